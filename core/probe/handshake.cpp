#include "probe/handshake.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/text.h"
#include "probe/command_words.h"
#include "probe/probe_archive.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 20;  ///< how often the program checks whether it was asked to stop
constexpr std::size_t kMostNoise = std::size_t{256} << 10;  ///< bytes that the command may print before Python answers

namespace fs = std::filesystem;

/// The program of Python's second start, which has the user's variables and packages but nothing from the current
/// folder. It reserves standard output for the protocol, so that other output does no harm, reports its version and
/// reads the prelude. It contains no quotation mark, and it is short because terminals accept lines of at most 4095
/// bytes.
constexpr const char* kReceive = R"(import sys
sys.path[:]=[p for p in sys.path if p]
import os
i,o=os.dup(0),os.dup(1)
os.dup2(2,1)
n=os.open(os.devnull,os.O_RDWR)
os.dup2(n,0)
if os.isatty(i):
  import tty
  tty.setraw(i)
v=sys.version_info
os.write(o,('fusescope-'+'probe @NONCE@ %d.%d.%d\n'%v[:3]).encode())
if v<(3,9):
  os._exit(0)
z=b''
while len(z)<@SIZE@:
  b=os.read(i,@SIZE@-len(z))
  if not b:
    os._exit(1)
  z+=b
exec(compile(z,'prelude','exec'))
)";

/// Variables that say how threads wait. They are set for this program (session/process_start.h), or by a user for other
/// programs.
constexpr std::array kThreadVariables{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};

/// The program of Python's first start, which is isolated and has no packages. It only starts Python again, so that no
/// shell parses the program of the second start. It removes kThreadVariables, because a compiler is timed with its own
/// defaults.
constexpr const char* kRestart =
    "import os,sys;e=dict(os.environ);c=os.path.realpath(os.getcwd());"
    "e['PYTHONPATH']=os.pathsep.join([p for p in e.get('PYTHONPATH','').split(os.pathsep)"
    " if p and os.path.realpath(p)!=c]);"
    "e['PYTHONPATH'] or e.pop('PYTHONPATH');"
    "[e.pop(n,0) for n in ('@THREADS@')];"
    "os.execve(sys.executable,[sys.executable,'-c',\"@RECEIVE@\"],e)\n";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string randomWord() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Returns the prelude, with the values that it needs.
std::string preludeFor(const ImportAhead& ahead) {
  const bool isNamed = !ahead.compiler.empty() && !ahead.what.empty();
  const std::string what = isNamed ? fmt::format("('{}', *{})", ahead.compiler, ahead.what) : "None";
  return fmt::format("size = {}\nahead = {}\n{}\nbegin(i, o, size, ahead)\n", probeArchive().size(), what,
                     probePrelude());
}

std::string receiving(const std::string& nonce, std::size_t prelude) {
  return replaced(replaced(kReceive, "@NONCE@", nonce), "@SIZE@", std::to_string(prelude));
}

/// Returns the program of the first start as one line, because an interactive Python executes its input line by line.
std::string firstLine(std::string receive) {
  receive = replaced(receive, "\\", "\\\\");
  receive = replaced(receive, "\n", "\\n");
  const std::vector<std::string> threads(kThreadVariables.begin(), kThreadVariables.end());
  const std::string restart = replaced(kRestart, "@THREADS@", joined(threads, "','"));
  return replaced(restart, "@RECEIVE@", receive);
}

/// Returns whether the command is only the path of a Python on this machine, so that its arguments reach it unchanged.
bool isPython(const std::string& command) {
  const fs::path program = programOf(command);
  std::error_code failed;
  const std::string name = program.empty() ? std::string() : fs::canonical(program, failed).filename().string();
  const bool isNamedSo = name.starts_with("python3") && name.find_first_not_of("0123456789.", 7) == std::string::npos;
  std::array<char, 4> first{};
  return isNamedSo && std::ifstream(program, std::ios::binary).read(first.data(), first.size()) &&
         std::string_view(first.data(), first.size()) ==
             "\x7f"
             "ELF";
}

/// Returns the variables of this process as kRestart changes them.
std::vector<std::string> variablesOfPython() {
  std::error_code failed;
  const fs::path here = fs::canonical(fs::current_path(failed), failed);
  std::vector<std::string> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry), name = text.substr(0, text.find('='));
    if (std::ranges::find(kThreadVariables, name) != kThreadVariables.end()) continue;
    if (name != "PYTHONPATH") {
      kept.emplace_back(text);
      continue;
    }
    std::vector<std::string> folders = split(text.substr(std::min(name.size() + 1, text.size())), ':');
    std::erase_if(folders, [&](const std::string& folder) {
      return folder.empty() || fs::weakly_canonical(folder, failed) == here;
    });
    if (!folders.empty()) kept.push_back("PYTHONPATH=" + joined(folders, ":"));
  }
  return kept;
}

class Handshake {
 public:
  Handshake(StartedProcess& process, const std::string& command, std::chrono::milliseconds patience,
            const StopToken& stop)
      : m_process(process), m_command(command), m_patience(patience), m_until(Clock::now() + patience), m_stop(stop) {}

  /// Writes `first`, and writes `probe` as soon as Python has answered with `nonce`. Returns the answer.
  Result<Greeting> run(const std::string& nonce, std::string first, std::string probe) {
    const std::string marker = "fusescope-probe " + nonce + " ";
    m_toWrite = std::move(first);
    while (m_printed.find('\n', m_printed.find(marker)) == std::string::npos ||
           m_printed.find(marker) == std::string::npos) {
      TRY(turn());
      if (m_printed.size() > kMostNoise)
        return problem("prints output that does not come from Python", m_printed.substr(0, 200), kGivePython);
    }
    const std::size_t at = m_printed.find(marker) + marker.size(), end = m_printed.find('\n', at);
    std::string version = m_printed.substr(at, end - at);
    if (!version.empty() && version.back() == '\r') version.pop_back();
    if (isTooOld(version))
      return problem(fmt::format("is Python {}", version), {}, "The probe needs Python 3.9 or a newer one.");
    m_greeting.reader.feed(std::string_view(m_printed).substr(end + 1));
    m_printed.clear();
    m_toWrite += probe;
    for (;;) {
      auto frame = m_greeting.reader.next();
      if (!frame.ok()) return problem(frame.error().message, {}, kGivePython);
      if (frame.value()) return accepted(std::move(frame.value()->header));
      TRY(turn());
      m_greeting.reader.feed(std::exchange(m_printed, {}));
    }
  }

 private:
  static constexpr const char* kGivePython =
      "Give a command that starts Python 3.9 or newer and passes standard input and output to it.";

  static bool isTooOld(const std::string& version) {
    const auto parts = split(version, '.');
    return parts.size() < 2 || parts[0] != "3" || std::atoi(parts[1].c_str()) < 9;
  }

  Result<Greeting> accepted(Json hello) {
    const bool isOurs = hello.value("event", Json()) == "hello" && hello.value("version", Json()) == probeVersion();
    if (!isOurs)
      return problem("answers with a probe that is not the one of this Fusescope", {},
                     "Give a command that starts Python and no program of its own.");
    m_greeting.hello = std::move(hello);
    return std::move(m_greeting);
  }

  /// Waits briefly until something can be read or written, and reads or writes it. Errors: see shakeHands().
  Status turn() {
    TRY(checkStop(m_stop));
    std::array<pollfd, 3> ends{pollfd{m_process.out(), POLLIN, 0}, pollfd{m_process.error(), POLLIN, 0},
                               pollfd{m_toWrite.empty() ? -1 : m_process.in(), POLLOUT, 0}};
    if (m_errorClosed) ends[1].fd = -1;
    ::poll(ends.data(), ends.size(), kPollMs);
    std::string words;
    if (ends[1].revents != 0) m_errorClosed = !readInto(m_process.error(), words);
    m_greeting.words.add(words);
    if (ends[0].revents != 0 && !readInto(m_process.out(), m_printed)) return ended();
    if (ends[2].revents != 0) write();
    if (Clock::now() >= m_until)
      return problem(fmt::format("did not answer within {:.3g} s", std::chrono::duration<double>(m_patience).count()),
                     lastWords(), kGivePython);
    return Done{};
  }

  /// Returns false at the end of the pipe.
  static bool readInto(int descriptor, std::string& text) {
    std::array<char, 16384> piece;
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  void write() {
    const ssize_t count = m_process.write(m_toWrite);
    if (count > 0) m_toWrite.erase(0, static_cast<std::size_t>(count));
    // The process is ending; its exit is noticed where its output is read.
    if (count < 0 && errno == EPIPE) m_toWrite.clear();
  }

  Diagnostic ended() {
    std::string words;
    while (!m_errorClosed && readInto(m_process.error(), words) && !words.empty())
      m_greeting.words.add(std::exchange(words, {}));
    if (!m_process.endsWithin(std::chrono::milliseconds(500)))
      return problem("closed its standard output before it answered", lastWords(), kGivePython);
    const std::string how = fmt::format("ended with {} before it answered", m_process.end());
    if (m_process.exitStatus() == 255)
      return problem(how, lastWords(), "If it is ssh, check that it connects without asking for a password.");
    if (lastWords().find("-I") != std::string::npos)
      return problem(how, lastWords(), "It may be Python 2, or no Python. The probe needs Python 3.9 or a newer one.");
    return problem(how, lastWords(), kGivePython);
  }

  std::string lastWords() const {
    std::string words = m_greeting.words.text();
    return words.empty() ? m_printed.substr(0, 400) : words;
  }

  Diagnostic problem(const std::string& what, const std::string& words, const char* help) const {
    std::string text = fmt::format("\"{}\" {}", m_command, what);
    if (!words.empty()) text += ". It printed: " + words;
    return {.message = text, .help = help};
  }

  StartedProcess& m_process;
  const std::string& m_command;
  const std::chrono::milliseconds m_patience;
  const Clock::time_point m_until;
  const StopToken& m_stop;
  Greeting m_greeting;
  std::string m_printed;  ///< standard output that is not processed yet
  std::string m_toWrite;
  bool m_errorClosed = false;
};

}  // namespace

Result<GreetedPython> greetPython(const std::string& command, const ProbeOptions& options, const StopToken& stop) {
  std::vector<std::string> words = TRY(commandWords(command));
  const std::string nonce = randomWord(), prelude = preludeFor(options.ahead);
  const std::string receive = receiving(nonce, prelude.size());
  std::string probe = prelude + std::string(probeArchive());
  const bool isDirect = isPython(command);
  if (isDirect) {
    words.insert(words.end(), {"-c", receive});
  } else {
    words.emplace_back(kPythonArguments);
  }
  StartedProcess process =
      TRY(StartedProcess::start(words, isDirect ? std::optional(variablesOfPython()) : std::nullopt));
  Handshake handshake(process, command, options.handshake, stop);
  Greeting greeting = TRY(isDirect ? handshake.run(nonce, std::move(probe), {})
                                   : handshake.run(nonce, firstLine(receive), std::move(probe)));
  return GreetedPython{std::move(process), std::move(greeting)};
}

}  // namespace fusescope
