#include "tests/support/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "base/files.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

std::string contentOf(const std::filesystem::path& path) {
  auto text = readTextFile(path);
  return text.ok() ? std::move(text).value() : std::string();
}

}  // namespace

ProcessResult runProcess(const std::vector<std::string>& arguments, const std::string& input) {
  const TemporaryFolder folder;
  const std::string in = (folder / "in").string(), out = (folder / "out").string(), err = (folder / "err").string();
  if (!writeFileAtomically(in, input).ok()) throw std::runtime_error("cannot write the process's input");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    ::dup2(::open(in.c_str(), O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  return {WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), contentOf(out), contentOf(err)};
}

ProcessResult fusescopeCommand(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), binary("fusescope").string());
  return runProcess(arguments);
}

}  // namespace fusescope::test
