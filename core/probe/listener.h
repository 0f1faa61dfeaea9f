#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/frames.h"
#include "probe/handshake.h"
#include "probe/probe_options.h"
#include "probe/started_process.h"

namespace fusescope {

/// What came for one job, in order. One thread fills it, another takes from it.
class Mailbox {
 public:
  using Clock = std::chrono::steady_clock;
  /// The next frame. Waits for it; nothing where `until` passed. Errors: nothing can come any more; cancelled.
  Result<std::optional<Frame>> take(const StopToken& stop, std::optional<Clock::time_point> until = {});
  void put(Frame frame);
  void close(const Diagnostic& why);

 private:
  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  std::deque<Frame> m_frames;
  std::optional<Diagnostic> m_closed;
};

/// The process in an environment that starts jobs: reads what it says on a thread of its own and hands it to the jobs'
/// mailboxes. Safe to use from several threads.
class Listener {
 public:
  /// Starts the environment's command, sends the probe and waits for its answer. Errors: as greetPython() has them.
  static Result<std::shared_ptr<Listener>> start(const Environment& environment, const ProbeOptions& options,
                                                 const StopToken& stop);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const Json& hello() const { return m_hello; }
  /// Whether files of this machine are read there where they lie, and the other way round.
  bool isLocal() const { return m_isLocal; }
  /// False once the connection is broken.
  bool isThere() const;
  /// The folder that the probe writes into.
  std::string folder() const;

  /// A number for a job and what comes for it. Forgotten with forget().
  std::pair<std::int64_t, std::shared_ptr<Mailbox>> newJob();
  void forget(std::int64_t job);
  void send(const Json& header, std::string_view payload = {});

 private:
  Listener(std::string command, std::chrono::milliseconds silence, StartedProcess process, Greeting greeting);
  void serve();
  bool serveOnce();
  bool receive();
  void deliver(Frame frame);
  void breakOff(std::string_view what);
  Result<bool> sharesFiles(const ProbeOptions& options, const StopToken& stop);

  const std::string m_command;
  const std::chrono::milliseconds m_silence;
  StartedProcess m_process;
  const Json m_hello;
  bool m_isLocal = false;
  Descriptor m_wake;  ///< an eventfd
  mutable std::mutex m_mutex;
  std::string m_toSend;
  std::map<std::int64_t, std::shared_ptr<Mailbox>> m_jobs;
  std::int64_t m_lastJob = 0;
  std::optional<Diagnostic> m_broken;
  bool m_stops = false;
  // Of the thread alone:
  FrameReader m_reader;
  LastWords m_words;
  bool m_errorOpen = true;
  Mailbox::Clock::time_point m_heard, m_nextBeat;
  std::string m_sending;
  std::size_t m_sent = 0;
  std::thread m_thread;
};

}  // namespace fusescope
