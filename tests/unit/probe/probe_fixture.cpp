#include "tests/unit/probe/probe_fixture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "probe/listeners.h"

namespace fusescope::test {

namespace fs = std::filesystem;

void ProbeTest::SetUp() {
  for (const char* name : {"configuration", "temporary", "cache"}) fs::create_directory(m_folder / name);
  ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
  ::setenv("XDG_CACHE_HOME", (m_folder / "cache").c_str(), 1);
  ::setenv("TMPDIR", (m_folder / "temporary").c_str(), 1);
  ::unsetenv("VIRTUAL_ENV");
}

void ProbeTest::TearDown() {
  endIdleListeners();
  EXPECT_TRUE(eventually([this] { return processes().empty(); })) << "a probe's process is left behind";
  EXPECT_TRUE(eventually([this] { return leftFolders().empty(); })) << "a probe's folder is left behind";
  ::unsetenv("TMPDIR");
}

Environment ProbeTest::withFakes(const std::string& before) {
  const std::string fakes = std::string(FUSESCOPE_SOURCE_DIR) + "/tests/unit/probe/python";
  return confirmed(
      fmt::format("{}{}env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={} python3", before, before.empty() ? "" : " ", fakes));
}

Environment ProbeTest::confirmed(const std::string& command) {
  EXPECT_TRUE(confirm(command).ok());
  return {.name = "test", .command = command};
}

std::unique_ptr<ProbeJob> ProbeTest::started(const Environment& environment, const std::string& compiler) {
  auto job = ProbeJob::start(environment, compiler, {});
  if (job.ok()) return std::move(job).value();
  ADD_FAILURE() << job.error().text();
  return nullptr;
}

Json ProbeTest::asked(ProbeJob& job, const std::string& op, Json more) {
  more["op"] = op;
  const auto answer = job.ask({.json = more, .files = {}}, {});
  if (answer.ok()) return answer.value().json;
  ADD_FAILURE() << answer.error().text();
  return {};
}

std::string ProbeTest::relay(const std::string& options) {
  return fmt::format("python3 {}/tests/unit/probe/python/relay.py {}", FUSESCOPE_SOURCE_DIR, options);
}

std::vector<int> ProbeTest::processes() const {
  std::vector<int> found;
  const std::string mark = "TMPDIR=" + (m_folder / "temporary").string();
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    const int process = std::stoi(name);
    if (runs(process) && textOfFile(entry.path() / "environ").find(mark) != std::string::npos) found.push_back(process);
  }
  return found;
}

std::vector<std::string> ProbeTest::leftFolders() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(m_folder / "temporary")) names.push_back(entry.path().filename());
  return names;
}

fs::path ProbeTest::file(const std::string& name, const std::string& content) const {
  const fs::path path = m_folder / name;
  EXPECT_TRUE(writeFileAtomically(path, content).ok());
  return path;
}

bool eventually(const std::function<bool()>& isSo) {
  using namespace std::chrono_literals;
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!isSo()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

bool runs(int process) {
  const std::string status = textOfFile(fmt::format("/proc/{}/stat", process));
  const std::size_t name = status.rfind(')');
  return name != std::string::npos && status.substr(name + 2, 1) != "Z";
}

std::string textOfFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;  // of a process that ends meanwhile nothing is read, and nothing thrown
  content << file.rdbuf();
  return content.str();
}

}  // namespace fusescope::test
