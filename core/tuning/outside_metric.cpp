#include "tuning/outside_metric.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "base/temporary_folder.h"
#include "interchange/npz.h"

namespace fusescope {
namespace {

constexpr int kPollMs = 50;                 ///< how often the program checks whether it was asked to stop
constexpr std::size_t kMostPrinted = 4096;  ///< characters: a number is shorter

Diagnostic metricError(std::string message, std::string help = {}) {
  return {.message = std::move(message), .where = {.attribute = "--metric"}, .help = std::move(help)};
}

/// A shell in a process group of its own, whose standard output is a pipe.
class Process {
 public:
  static Result<Process> start(const std::string& command, const std::string& first, const std::string& second) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return metricError(fmt::format("no pipe can be opened: {}", std::strerror(errno)));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    std::string script = command + " \"$@\"";
    std::array<std::string, 6> words{"sh", "-c", script, "sh", first, second};
    std::array<char*, 7> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    pid_t id = -1;
    const int failed = ::posix_spawn(&id, "/bin/sh", &actions, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    Process process(id, ends[0]);
    if (failed != 0) {
      process.m_id = -1;
      return metricError(fmt::format("no shell can be started: {}", std::strerror(failed)));
    }
    return process;
  }
  Process(Process&& other) noexcept : m_id(std::exchange(other.m_id, -1)), m_out(std::exchange(other.m_out, -1)) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (m_out >= 0) ::close(m_out);
    if (m_id <= 0) return;
    ::kill(-m_id, SIGKILL);
    ::waitpid(m_id, nullptr, 0);
  }

  /// Returns what it prints, at most kMostPrinted characters, until it closes its standard output.
  Result<std::string> printed(const StopToken& stop) const {
    std::string text;
    for (;;) {
      TRY(checkStop(stop));
      pollfd ready{.fd = m_out, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, kPollMs) <= 0) continue;
      std::array<char, 512> piece{};
      const ssize_t count = ::read(m_out, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      if (text.size() < kMostPrinted) text.append(piece.data(), static_cast<std::size_t>(count));
    }
  }

  /// Returns its exit status, or 128 plus the number of the signal that ended it.
  Result<int> status(const StopToken& stop) {
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(m_id, &status, WNOHANG);
      if (ended == m_id) {
        m_id = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      TRY(checkStop(stop));
      ::poll(nullptr, 0, kPollMs / 10);
    }
  }

 private:
  Process(pid_t id, int out) : m_id(id), m_out(out) {}
  pid_t m_id;
  int m_out;
};

Result<double> numberIn(std::string_view text) {
  const auto isSpace = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole)
    return metricError(
        fmt::format("the metric printed \"{}\", which is not a number", text.substr(0, 80)),
        "A metric must print one number, and nothing else, on standard output; smaller numbers are better.");
  return std::isnan(number) ? INFINITY : number;
}

}  // namespace

Result<Tensor> joinedAlongFirstAxis(const std::vector<Tensor>& ofSamples, const std::string& name) {
  const Tensor& first = ofSamples.front();
  const auto bad = [&](const char* what) {
    return Diagnostic{.message = what, .where = {.value = name, .attribute = "--metric"}};
  };
  if (first.container() != Container::None || first.type() == DataType::String)
    return bad("this output contains text or is a container, which cannot be passed to a metric");
  if (bitWidth(first.type()) % 8 != 0)
    return bad("this output has elements narrower than a byte, which cannot be passed to a metric");
  Dims dims = first.dims();
  if (dims.empty()) dims.push_back(1);
  dims[0] = 0;
  const auto behindFirst = [](const Dims& all) { return std::span(all).subspan(std::min<std::size_t>(all.size(), 1)); };
  for (const Tensor& tensor : ofSamples) {
    const bool fits = tensor.dims().size() == first.dims().size() &&
                      std::ranges::equal(behindFirst(tensor.dims()), behindFirst(first.dims()));
    if (!fits)
      return bad(
          "this output has different extents behind the first axis for different samples, so they cannot be "
          "concatenated for the metric");
    dims[0] += tensor.dims().empty() ? 1 : tensor.dims()[0];
  }
  Tensor joined = Tensor::zeros(first.type(), dims);
  std::size_t at = 0;
  for (const Tensor& tensor : ofSamples) {
    if (tensor.byteSize() > 0) std::memcpy(joined.mutableBytes() + at, tensor.bytes(), tensor.byteSize());
    at += tensor.byteSize();
  }
  return joined;
}

Result<double> outsideMetric(const std::string& command, const OutputArrays& expected, const OutputArrays& actual,
                             const StopToken& stop) {
  const auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-metric"));
  const std::string expectedFile = (folder / "expected.npz").string(), actualFile = (folder / "actual.npz").string();
  TRY(writeNpz(expectedFile, expected));
  TRY(writeNpz(actualFile, actual));
  Process process = TRY(Process::start(command, expectedFile, actualFile));
  const std::string printed = TRY(process.printed(stop));
  const int status = TRY(process.status(stop));
  if (status != 0)
    return metricError(fmt::format("the metric ended with status {}: {}", status, command),
                       "Run the command yourself with two .npz files to see why.");
  return numberIn(printed);
}

}  // namespace fusescope
