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

/// Makes events out of the bytes that a worker writes, in a thread of its own: a large answer takes tens of
/// milliseconds to read, and as long to throw away. The events come in the order of the lines. Progress that nobody has
/// taken yet is replaced by newer progress of the same request and phase. All functions are for the GUI thread.
class EventReader : public QObject {
  Q_OBJECT

 public:
  /// Makes what the receiver of an answer wants out of it; called in the reader's thread.
  using Decode = std::function<std::shared_ptr<void>(Result<Json>)>;
  struct Event {
    std::int64_t id = 0;
    QString phase, detail;         ///< of progress
    std::shared_ptr<void> answer;  ///< what `Decode` made; null: progress
  };

  explicit EventReader(QObject* parent = nullptr);
  ~EventReader() override;

  /// What the answer to request `id` is made into. An answer to a request that is not expected is dropped.
  void expect(std::int64_t id, Decode decode);
  void read(QByteArray bytes);
  /// There are no more bytes: ended() follows the last event.
  void end();

 signals:
  void arrived(const std::vector<fusescope::EventReader::Event>& events);
  void ended();

 private:
  struct Input {
    QByteArray bytes;
    std::vector<Event> delivered;  ///< to be freed
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
  std::vector<Event> m_events;  ///< read, and not yet delivered
  bool m_ended = false;
  bool m_posted = false;  ///< a call of deliver() is under way
  std::jthread m_thread;  ///< the last member: it uses the others
};

}  // namespace fusescope
