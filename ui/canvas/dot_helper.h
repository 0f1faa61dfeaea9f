#pragma once

#include <QElapsedTimer>
#include <QProcess>
#include <QString>
#include <optional>

#include "layout/level.h"

namespace fusescope {

/// Graphviz' dot in the helper process fusescope-layoutd: started when the first level is asked for, killed when asked
/// to stop or when its time is over. Once it has failed it is not asked again. Lives in the thread that works with it,
/// which waits for answers.
class DotHelper {
 public:
  /// `mostMs`: for all levels together. `program`: by default fusescope-layoutd beside this one.
  DotHelper(StopToken stop, int mostMs, QString program = {});
  ~DotHelper();

  std::optional<LevelLayout> layOut(const LevelGraph& level);
  /// Why the layered layout stands instead, for people; empty if all went well.
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
