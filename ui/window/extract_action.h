#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Why the selected nodes are no part that can be cut out; empty: they are one.
QString extractRefusal(MainWindow& window);
/// Asks for a file, and cuts the selected nodes out into it.
void extractSelected(MainWindow& window);
/// The same into that file: `extract --nodes`, with the inputs of the settings of runs, else random ones.
void extractSelected(MainWindow& window, const QString& path);

}  // namespace fusescope
