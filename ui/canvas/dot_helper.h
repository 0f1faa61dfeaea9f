#pragma once

#include <QElapsedTimer>
#include <QProcess>
#include <QString>
#include <optional>

#include "layout/level.h"

namespace fusescope {

/// Runs Graphviz' dot in the helper process fusescope-layoutd, which is started for the first level and killed when it
/// is asked to stop or when its time is over. After a failure it is not used again. It must be used in one thread,
/// which waits for answers.
class DotHelper {
 public:
  /// `mostMs` is the limit for all levels together. `program` is by default fusescope-layoutd beside this program.
  DotHelper(StopToken stop, int mostMs, QString program = {});
  ~DotHelper();

  std::optional<LevelLayout> layOut(const LevelGraph& level);
  /// Returns why the layered layout is used instead, for people; empty if dot did not fail.
  const QString& problem() const { return m_problem; }

 private:
  bool start();
  std::optional<QByteArray> answer();
  void fail(const QString& problem);

  const StopToken m_stop;
  const int m_mostMs;
  const QString m_program;
  QElapsedTimer m_waited;
  qint64 m_usedMs = 0;
  QProcess m_process;
  QString m_problem;
};

}  // namespace fusescope
