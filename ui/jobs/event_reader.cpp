#include "ui/jobs/event_reader.h"

#include <utility>

namespace fusescope {

EventReader::EventReader(QObject* parent)
    : QObject(parent), m_thread([this](const std::stop_token& stop) { work(stop); }) {}

EventReader::~EventReader() {
  m_thread.request_stop();
  m_thread.join();  // the thread posts to this object, so that it must end before Qt destroys it
}

void EventReader::expect(std::int64_t id, Decode decode) {
  const std::lock_guard lock(m_mutex);
  m_expected[id] = std::move(decode);
}

void EventReader::read(QByteArray bytes) {
  give({.bytes = std::move(bytes), .delivered = {}});
}

void EventReader::end() {
  give({.bytes = {}, .delivered = {}, .last = true});
}

void EventReader::give(Input input) {
  const std::lock_guard lock(m_mutex);
  m_inputs.push_back(std::move(input));
  m_changed.notify_one();
}

void EventReader::work(const std::stop_token& stop) {
  QByteArray unread;
  while (true) {
    Input input;
    {
      std::unique_lock lock(m_mutex);
      if (!m_changed.wait(lock, stop, [&] { return !m_inputs.empty(); })) return;
      input = std::move(m_inputs.front());
      m_inputs.pop_front();
    }
    unread += input.bytes;
    if (input.bytes.contains('\n')) readLines(unread);
    if (!input.last) continue;
    const std::lock_guard lock(m_mutex);
    m_ended = true;
    post();
  }
}

void EventReader::readLines(QByteArray& unread) {
  int begin = 0;
  for (int end = 0; (end = unread.indexOf('\n', begin)) >= 0; begin = end + 1)
    readLine({unread.constData() + begin, static_cast<std::size_t>(end - begin)});
  unread.remove(0, begin);
}

void EventReader::readLine(std::string_view line) {
  auto event = parseWorkerEvent(line);
  if (!event.ok()) return;
  const WorkerEvent& said = event.value();
  if (said.kind == WorkerEventKind::Progress) {
    keep({.id = said.id,
          .phase = QString::fromStdString(said.phase),
          .detail = QString::fromStdString(said.detail),
          .answer = {}});
    return;
  }
  Decode decode;
  {
    const std::lock_guard lock(m_mutex);
    auto expected = m_expected.extract(said.id);
    if (expected.empty()) return;
    decode = std::move(expected.mapped());
  }
  const bool done = said.kind == WorkerEventKind::Done;
  keep({.id = said.id,
        .phase = {},
        .detail = {},
        .answer = decode(done ? Result<Json>(std::move(event.value().result)) : Result<Json>(said.error))});
}

void EventReader::keep(Event event) {
  const std::lock_guard lock(m_mutex);
  const bool replaces = !event.answer && !m_events.empty() && !m_events.back().answer &&
                        m_events.back().id == event.id && m_events.back().phase == event.phase;
  if (replaces) {
    m_events.back() = std::move(event);
  } else {
    m_events.push_back(std::move(event));
  }
  post();
}

void EventReader::post() {
  if (std::exchange(m_posted, true)) return;
  QMetaObject::invokeMethod(
      this, [this] { deliver(); }, Qt::QueuedConnection);
}

void EventReader::deliver() {
  std::vector<Event> events;
  bool last = false;
  {
    const std::lock_guard lock(m_mutex);
    m_posted = false;
    events = std::exchange(m_events, {});
    last = m_ended;
  }
  if (!events.empty()) {
    emit arrived(events);
    give({.bytes = {}, .delivered = std::move(events)});
  }
  if (last) emit ended();
}

}  // namespace fusescope
