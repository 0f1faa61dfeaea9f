#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "session/worker_protocol.h"

namespace fusescope {

/// Decodes the bytes that a worker writes into events on a separate thread, because a large answer takes tens of
/// milliseconds to parse, and as long to delete. Events are delivered in the order of the lines. Progress that was not
/// delivered yet is replaced by newer progress of the same request and phase. All functions must be called on the GUI
/// thread.
class EventReader : public QObject {
  Q_OBJECT

 public:
  /// Converts an answer to what its receiver wants; it is called on the reader's thread.
  using Decode = std::function<std::shared_ptr<void>(Result<Json>)>;
  struct Event {
    std::int64_t id = 0;
    QString phase, detail;         ///< set for progress
    std::shared_ptr<void> answer;  ///< the result of `Decode`; null: progress
  };

  explicit EventReader(QObject* parent = nullptr);
  ~EventReader() override;

  /// Sets how the answer to request `id` is decoded. An answer to a request that is not expected is dropped.
  void expect(std::int64_t id, Decode decode);
  void read(QByteArray bytes);
  /// Says that there are no more bytes: ended() follows the last event.
  void end();

 signals:
  void arrived(const std::vector<fusescope::EventReader::Event>& events);
  void ended();

 private:
  struct Input {
    QByteArray bytes;
    std::vector<Event> delivered;  ///< are freed next
    bool last = false;
  };

  void give(Input input);
  void work(const std::stop_token& stop);
  void readLines(QByteArray& unread);
  void readLine(std::string_view line);
  void keep(Event event);
  void post();
  void deliver();

  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  std::deque<Input> m_inputs;
  std::map<std::int64_t, Decode> m_expected;
  std::vector<Event> m_events;  ///< events that were read and not delivered yet
  bool m_ended = false;
  bool m_posted = false;  ///< whether a call of deliver() is queued
  std::jthread m_thread;  ///< the last member, because it uses the others
};

}  // namespace fusescope
