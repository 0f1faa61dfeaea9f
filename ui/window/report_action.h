#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Asks for a file, and writes a report to it: on the displayed run, on the difference if two runs are displayed, or on
/// the displayed plan if there is no run. A message in the bar of messages confirms it.
void saveReport(MainWindow& window);
/// Does the same with the file `path`.
void writeReport(MainWindow& window, const QString& path);

}  // namespace fusescope
