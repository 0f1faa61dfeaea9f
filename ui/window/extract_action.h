#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Returns why the selected nodes cannot be cut out now; empty if they can.
QString extractRefusal(MainWindow& window);
/// Asks for a file, and writes the part with the selected nodes into it.
void extractSelected(MainWindow& window);
/// Does the same with the file `path`, like `extract --nodes` with the inputs, backend and threads of the settings of
/// runs. If this would overwrite files, the user is asked before anything is written; `isAsked` says that the user was
/// asked about `path` already.
void extractSelected(MainWindow& window, const QString& path, bool isAsked = true);
/// Cancels a running extraction, and closes its message.
void cancelExtraction(MainWindow& window);

}  // namespace fusescope
