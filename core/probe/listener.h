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

/// The messages for one job, in order. One thread adds them, and another one takes them.
class Mailbox {
 public:
  using Clock = std::chrono::steady_clock;
  /// Waits for the next frame and returns it; returns nothing when `until` has passed. Errors: no more frames can come;
  /// cancelled.
  Result<std::optional<Frame>> take(const StopToken& stop, std::optional<Clock::time_point> until = {});
  void put(Frame frame);
  void close(const Diagnostic& why);

 private:
  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  std::deque<Frame> m_frames;
  std::optional<Diagnostic> m_closed;
};

/// The process in an environment that starts jobs. A separate thread reads its messages and puts them into the
/// mailboxes of the jobs. Thread-safe.
class Listener {
 public:
  /// Starts the environment's command, sends the probe and waits for its answer. Errors: those of greetPython().
  static Result<std::shared_ptr<Listener>> start(const Environment& environment, const ProbeOptions& options,
                                                 const StopToken& stop);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const Json& hello() const { return m_hello; }
  /// Returns whether the environment sees the files of this machine under the same paths, and vice versa.
  bool isLocal() const { return m_isLocal; }
  /// Returns false after the connection broke.
  bool isThere() const;
  /// Returns the folder that the probe writes to.
  std::string folder() const;

  /// Returns a number for a new job and its mailbox. They exist until forget() is called.
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
  Descriptor m_wake;  ///< an eventfd that wakes the thread
  mutable std::mutex m_mutex;
  std::string m_toSend;
  std::map<std::int64_t, std::shared_ptr<Mailbox>> m_jobs;
  std::int64_t m_lastJob = 0;
  std::optional<Diagnostic> m_broken;
  bool m_stops = false;
  // The following members are used by the thread only.
  FrameReader m_reader;
  LastWords m_words;
  bool m_errorOpen = true;
  Mailbox::Clock::time_point m_heard, m_nextBeat;
  std::string m_sending;
  std::size_t m_sent = 0;
  std::thread m_thread;
};

}  // namespace fusescope
