#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Asks where, and writes there a report of the shown run, of the difference where two runs are shown, or of the plan
/// on screen where none is. Says so in the window's bar of messages once it is written.
void saveReport(MainWindow& window);
/// The same to `path`.
void writeReport(MainWindow& window, const QString& path);

}  // namespace fusescope
