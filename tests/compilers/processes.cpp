#include "tests/compilers/processes.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fusescope::test {
namespace {

std::string contentOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;  // of a process that ends meanwhile nothing is read, and nothing thrown
  content << file.rdbuf();
  return content.str();
}

/// By /proc/PID/stat, in which a name in parentheses and the state stand before it.
pid_t parentOf(const std::filesystem::path& process) {
  const std::string stat = contentOf(process / "stat");
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  char state = 0;
  pid_t parent = -1;
  fields >> state >> parent;
  return parent;
}

}  // namespace

const char* const kEveryFate = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4, 4] x) => (float[16] y)
  <float[4, 4] w = {1,2,0,0, 0,1,2,0, 0,0,1,2, 2,0,0,1}, float[4, 4] u = {1,0,0,1, 1,1,0,0, 0,1,1,0, 0,0,1,1},
   float[4] bias = {1,-1,2,-2}, float[4] half = {0.5,0.5,0.25,0.25}, int64[1] all = {16}> {
  [product] a = MatMul (x, w)
  [shift] b = Add (a, bias)
  [relu] c = Relu (b)
  [left] d = MatMul (c, w)
  [right] e = MatMul (c, u)
  [join] f = Add (d, e)
  [soft] g = Softmax <axis = 1> (f)
  [flip] h = Transpose <perm = [1, 0]> (g)
  [scale] i = Mul (h, half)
  [hard] j = Erf (i)
  [flat] k = Reshape (j, all)
  [last] y = Neg (k)
})";

std::set<pid_t> abacusProcesses(const std::string& temporaryFolder) {
  std::set<pid_t> found;
  const std::string below = "TMPDIR=" + temporaryFolder + std::string(1, '\0');
  std::error_code gone;  // processes end while they are looked at
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string id = entry.path().filename().string();
    if (!std::ranges::all_of(id, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    if (contentOf(entry.path() / "comm") != "abacus_process\n") continue;
    const bool isBelow =
        parentOf(entry.path()) == ::getpid() || contentOf(entry.path() / "environ").find(below) != std::string::npos;
    if (isBelow) found.insert(std::stoi(id));
  }
  return found;
}

}  // namespace fusescope::test
