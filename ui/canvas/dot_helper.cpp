#include "ui/canvas/dot_helper.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "base/json.h"

namespace fusescope {
namespace {

constexpr int kAskStopEveryMs = 10;

QString tr(const char* text) {
  return QCoreApplication::translate("DotHelper", text);
}

QString usualProgram() {
  const QString folder = QCoreApplication::applicationDirPath();
  const QString beside = folder + QStringLiteral("/fusescope-layoutd");
  return QFileInfo(beside).isExecutable() ? beside : folder + QStringLiteral("/../bin/fusescope-layoutd");
}

/// Returns whether the answer is about this level.
bool fits(const LevelLayout& layout, const LevelGraph& level) {
  return layout.entities.size() == level.entities.size() && layout.edges.size() == level.edges.size();
}

}  // namespace

DotHelper::DotHelper(StopToken stop, int mostMs, QString program)
    : m_stop(std::move(stop)), m_mostMs(mostMs), m_program(program.isEmpty() ? usualProgram() : std::move(program)) {}

DotHelper::~DotHelper() {
  if (m_process.state() == QProcess::NotRunning) return;
  m_process.kill();
  m_process.waitForFinished();
}

void DotHelper::fail(const QString& problem) {
  m_problem = problem;
  m_process.kill();
}

bool DotHelper::start() {
  if (m_process.state() != QProcess::NotRunning) return true;
  m_process.start(m_program, QStringList());
  if (m_process.waitForStarted()) return true;
  fail(tr("The layout helper %1 could not be started; the layered layout is used instead.").arg(m_program));
  return false;
}

// Returns the next line of the process, or nothing if the process ends, the time is over or the request was stopped.
std::optional<QByteArray> DotHelper::answer() {
  while (!m_process.canReadLine()) {
    if (m_stop.stop_requested()) {
      m_process.kill();
      return std::nullopt;
    }
    if (m_usedMs + m_waited.elapsed() > m_mostMs) {
      fail(tr("Graphviz took longer than %1 s; the layered layout is used instead.").arg(m_mostMs / 1000.0));
      return std::nullopt;
    }
    if (!m_process.waitForReadyRead(kAskStopEveryMs) && m_process.state() == QProcess::NotRunning) {
      fail(tr("The layout helper ended before it was done; the layered layout is used instead."));
      return std::nullopt;
    }
  }
  return m_process.readLine();
}

std::optional<LevelLayout> DotHelper::layOut(const LevelGraph& level) {
  if (!m_problem.isEmpty() || m_stop.stop_requested() || !start()) return std::nullopt;
  m_waited.start();
  m_process.write(QByteArray::fromStdString(toJson(level).dump()) + '\n');
  const std::optional<QByteArray> line = answer();
  m_usedMs += m_waited.elapsed();
  if (!line) return std::nullopt;
  const Json json = Json::parse(line->constData(), line->constData() + line->size(), nullptr, false);
  if (json.is_null()) return std::nullopt;
  Result<LevelLayout> layout = levelLayoutFromJson(json);
  if (!layout.ok() || !fits(layout.value(), level)) {
    fail(tr("The layout helper's answer cannot be used (%1); the layered layout is used instead.")
             .arg(layout.ok() ? tr("it is for another graph") : QString::fromStdString(layout.error().text())));
    return std::nullopt;
  }
  return std::move(layout).value();
}

}  // namespace fusescope
