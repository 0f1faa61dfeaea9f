#include "probe/listener.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <random>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "probe/handshake.h"

namespace fusescope {
namespace {

using namespace std::chrono_literals;
/// The number of signs of life within the time after which silence means that the other side is gone.
constexpr int kBeats = 6;

}  // namespace

Result<std::optional<Frame>> Mailbox::take(const StopToken& stop, std::optional<Clock::time_point> until) {
  std::unique_lock lock(m_mutex);
  const auto isThere = [this] { return !m_frames.empty() || m_closed; };
  if (until) {
    m_changed.wait_until(lock, stop, *until, isThere);
  } else {
    m_changed.wait(lock, stop, isThere);
  }
  TRY(checkStop(stop));
  if (m_frames.empty()) {
    if (m_closed) return *m_closed;
    return std::optional<Frame>{};
  }
  std::optional<Frame> frame(std::move(m_frames.front()));
  m_frames.pop_front();
  return frame;
}

void Mailbox::put(Frame frame) {
  const std::lock_guard lock(m_mutex);
  m_frames.push_back(std::move(frame));
  m_changed.notify_all();
}

void Mailbox::close(const Diagnostic& why) {
  const std::lock_guard lock(m_mutex);
  if (!m_closed) m_closed = why;
  m_changed.notify_all();
}

Result<std::shared_ptr<Listener>> Listener::start(const Environment& environment, const ProbeOptions& options,
                                                  const StopToken& stop) {
  GreetedPython python = TRY(greetPython(environment.command, options, stop));
  std::shared_ptr<Listener> listener(
      new Listener(environment.command, options.silence, std::move(python.process), std::move(python.greeting)));
  listener->m_isLocal = TRY(listener->sharesFiles(options, stop));
  return listener;
}

Listener::Listener(std::string command, std::chrono::milliseconds silence, StartedProcess process, Greeting greeting)
    : m_command(std::move(command)),
      m_silence(silence),
      m_process(std::move(process)),
      m_hello(std::move(greeting.hello)),
      m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_reader(std::move(greeting.reader)),
      m_words(std::move(greeting.words)),
      m_heard(Mailbox::Clock::now()),
      m_nextBeat(m_heard),
      m_thread([this] { serve(); }) {}

Listener::~Listener() {
  {
    const std::lock_guard lock(m_mutex);
    m_stops = true;
  }
  ::eventfd_write(m_wake.number(), 1);
  m_thread.join();
}

bool Listener::isThere() const {
  const std::lock_guard lock(m_mutex);
  return !m_broken;
}

std::string Listener::folder() const {
  return std::filesystem::path(textOf(m_hello, "word_path")).parent_path().string();
}

std::pair<std::int64_t, std::shared_ptr<Mailbox>> Listener::newJob() {
  auto mailbox = std::make_shared<Mailbox>();
  const std::lock_guard lock(m_mutex);
  if (m_broken) mailbox->close(*m_broken);
  m_jobs.emplace(++m_lastJob, mailbox);
  return {m_lastJob, mailbox};
}

void Listener::forget(std::int64_t job) {
  const std::lock_guard lock(m_mutex);
  m_jobs.erase(job);
}

void Listener::send(const Json& header, std::string_view payload) {
  std::string bytes = toBytes(header, payload);
  {
    const std::lock_guard lock(m_mutex);
    if (m_broken) return;
    m_toSend += bytes;
  }
  ::eventfd_write(m_wake.number(), 1);
}

/// Returns whether the probe and this program see the same files. First the probe's word is read from its file here;
/// then the probe is asked for a word that only a file of this machine contains.
Result<bool> Listener::sharesFiles(const ProbeOptions& options, const StopToken& stop) {
  const std::string word = textOf(m_hello, "word"), path = textOf(m_hello, "word_path");
  if (const auto here = readTextFile(path); word.empty() || !here.ok() || here.value() != word) return false;
  const auto folder = TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-word");
  if (!folder.ok()) return false;
  std::random_device random;
  const std::string ours = fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
  const auto bytes = std::as_bytes(std::span(ours.data(), ours.size()));
  if (!writePiecesAtomically(folder.value() / "word", std::span(&bytes, 1)).ok()) return false;
  const auto [job, mailbox] = newJob();
  send({{"op", "look"}, {"job", job}, {"path", (folder.value() / "word").string()}});
  const auto frame = mailbox->take(stop, Mailbox::Clock::now() + options.handshake);
  forget(job);
  const auto answer = TRY(frame);
  return answer && textOf(answer->header, "word") == ours;
}

void Listener::serve() {
  while (serveOnce()) {
  }
  m_process.finish();
}

/// Waits for work and does it. Returns false when the connection is closed.
bool Listener::serveOnce() {
  {
    const std::lock_guard lock(m_mutex);
    if (m_stops) return false;
    if (m_sending.size() == m_sent) {
      m_sending = std::exchange(m_toSend, {});
      m_sent = 0;
    }
  }
  const auto now = Mailbox::Clock::now();
  if (now - m_heard > m_silence) return breakOff("has not answered for too long"), false;
  if (now >= m_nextBeat) {
    m_nextBeat = now + m_silence / kBeats;
    send({{"op", "beat"}, {"silence", std::chrono::duration<double>(m_silence).count()}});
    return true;
  }
  std::array<pollfd, 4> ends{
      pollfd{m_process.out(), POLLIN, 0}, pollfd{m_errorOpen ? m_process.error() : -1, POLLIN, 0},
      pollfd{m_wake.number(), POLLIN, 0}, pollfd{m_sent < m_sending.size() ? m_process.in() : -1, POLLOUT, 0}};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(m_nextBeat - now) + 1ms;
  ::poll(ends.data(), ends.size(), static_cast<int>(wait.count()));
  if (ends[2].revents != 0) {
    eventfd_t count = 0;
    ::eventfd_read(m_wake.number(), &count);
  }
  if (ends[1].revents != 0) {
    std::array<char, 16384> piece;
    const ssize_t got = ::read(m_process.error(), piece.data(), piece.size());
    if (got > 0) m_words.add({piece.data(), static_cast<std::size_t>(got)});
    m_errorOpen = got > 0 || (got < 0 && errno == EAGAIN);
  }
  if (ends[3].revents != 0) {
    const ssize_t sent = m_process.write(std::string_view(m_sending).substr(m_sent));
    if (sent > 0) m_sent += static_cast<std::size_t>(sent);
  }
  return ends[0].revents == 0 || receive();
}

bool Listener::receive() {
  std::array<char, 1 << 16> piece;
  const ssize_t got = ::read(m_process.out(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return breakOff("ended or closed the connection"), false;
  m_heard = Mailbox::Clock::now();
  m_reader.feed({piece.data(), static_cast<std::size_t>(got)});
  for (;;) {
    auto frame = m_reader.next();
    if (!frame.ok()) return breakOff(frame.error().message), false;
    if (!frame.value()) return true;
    deliver(std::move(*frame.value()));
  }
}

void Listener::deliver(Frame frame) {
  const auto field = frame.header.find("job");
  if (field == frame.header.end() || !field->is_number_integer()) return;
  std::shared_ptr<Mailbox> mailbox;
  {
    const std::lock_guard lock(m_mutex);
    const auto found = m_jobs.find(field->get<std::int64_t>());
    if (found != m_jobs.end()) mailbox = found->second;
  }
  if (mailbox) mailbox->put(std::move(frame));
}

void Listener::breakOff(std::string_view what) {
  std::string text = fmt::format("the probe in \"{}\" {}", m_command, what);
  if (m_process.endsWithin(100ms)) text += fmt::format(" ({})", m_process.end());
  std::array<char, 16384> piece;
  for (ssize_t got = 1; m_errorOpen && got > 0;) {
    got = ::read(m_process.error(), piece.data(), piece.size());
    if (got > 0) m_words.add({piece.data(), static_cast<std::size_t>(got)});
  }
  if (const std::string words = m_words.text(); !words.empty()) text += ". It printed: " + words;
  const std::lock_guard lock(m_mutex);
  m_broken = Diagnostic{.message = text, .help = "Try again; the probe is then started again."};
  for (const auto& [job, mailbox] : m_jobs) mailbox->close(*m_broken);
}

}  // namespace fusescope
