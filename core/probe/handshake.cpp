#include "probe/handshake.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>

#include "base/text.h"
#include "probe/probe_archive.h"

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 20;                                 ///< how often a stop is looked for
constexpr std::size_t kMostNoise = std::size_t{256} << 10;  ///< printed by what starts Python, before Python answers

/// Python's second start: with the user's variables and packages, but nothing from the current folder. It keeps
/// standard output for the protocol, so that whatever prints does no harm, says its version, and takes the probe.
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
import tempfile
d=tempfile.mkdtemp(prefix='fusescope-probe-')
p=os.path.join(d,'probe.zip')
with open(p,'wb') as f:
  f.write(z)
sys.path.insert(0,p)
import fusescope_probe.listener as l
sys.path.pop(0)
l.listen(i,o,d,z)
)";

/// How threads wait is what this program says for itself (session/process_start.h), or a user for other programs: a
/// compiler is timed as it is by itself. Python's first start, isolated and without packages, only starts it again: so
/// no shell parses what it runs.
constexpr const char* kRestart =
    "import os,sys;e=dict(os.environ);c=os.path.realpath(os.getcwd());"
    "e['PYTHONPATH']=os.pathsep.join([p for p in e.get('PYTHONPATH','').split(os.pathsep)"
    " if p and os.path.realpath(p)!=c]);"
    "e['PYTHONPATH'] or e.pop('PYTHONPATH');"
    "[e.pop(n,0) for n in ('OMP_WAIT_POLICY','GOMP_SPINCOUNT','KMP_BLOCKTIME')];"
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

/// One line, since interactive Python runs what it reads line by line.
std::string firstLine(const std::string& nonce) {
  std::string receive = replaced(kReceive, "@NONCE@", nonce);
  receive = replaced(receive, "@SIZE@", std::to_string(probeArchive().size()));
  receive = replaced(receive, "\\", "\\\\");
  receive = replaced(receive, "\n", "\\n");
  return replaced(kRestart, "@RECEIVE@", receive);
}

class Handshake {
 public:
  Handshake(StartedProcess& process, const std::string& command, std::chrono::milliseconds patience,
            const StopToken& stop)
      : m_process(process), m_command(command), m_patience(patience), m_until(Clock::now() + patience), m_stop(stop) {}

  Result<Greeting> run() {
    const std::string nonce = randomWord();
    const std::string marker = "fusescope-probe " + nonce + " ";
    m_toWrite = firstLine(nonce);
    while (m_printed.find('\n', m_printed.find(marker)) == std::string::npos ||
           m_printed.find(marker) == std::string::npos) {
      TRY(turn());
      if (m_printed.size() > kMostNoise)
        return problem("prints what no Python prints", m_printed.substr(0, 200), kGivePython);
    }
    const std::size_t at = m_printed.find(marker) + marker.size(), end = m_printed.find('\n', at);
    std::string version = m_printed.substr(at, end - at);
    if (!version.empty() && version.back() == '\r') version.pop_back();
    if (isTooOld(version))
      return problem(fmt::format("is Python {}", version), {}, "The probe needs Python 3.9 or a newer one.");
    m_greeting.reader.feed(std::string_view(m_printed).substr(end + 1));
    m_printed.clear();
    m_toWrite = probeArchive();
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
      "Give a command that starts Python 3.9 or newer and hands standard input and output over to it.";

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

  /// Waits a little for something to read or to write. Errors: see shakeHands().
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

  /// False at the end of the pipe.
  static bool readInto(int descriptor, std::string& text) {
    std::array<char, 16384> piece;
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  void write() {
    const ssize_t count = m_process.write(m_toWrite);
    if (count > 0) m_toWrite.erase(0, static_cast<std::size_t>(count));
    if (count < 0 && errno == EPIPE) m_toWrite.clear();  // it ends; how is read where it printed
  }

  Diagnostic ended() {
    std::string words;
    while (!m_errorClosed && readInto(m_process.error(), words) && !words.empty())
      m_greeting.words.add(std::exchange(words, {}));
    if (!m_process.endsWithin(std::chrono::milliseconds(500)))
      return problem("closed its standard output before it answered", lastWords(), kGivePython);
    const std::string how = fmt::format("ended with {} before it answered", m_process.end());
    if (m_process.exitStatus() == 255)
      return problem(how, lastWords(), "Where it is ssh, see whether it connects without asking for a password.");
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
  std::string m_printed;  ///< on standard output, not yet read
  std::string m_toWrite;
  bool m_errorClosed = false;
};

}  // namespace

Result<Greeting> shakeHands(StartedProcess& process, const std::string& command, std::chrono::milliseconds patience,
                            const StopToken& stop) {
  return Handshake(process, command, patience, stop).run();
}

}  // namespace fusescope
