#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Why the selected nodes cannot be cut out now; empty: they can.
QString extractRefusal(MainWindow& window);
/// Asks for a file, and cuts the selected nodes out into it.
void extractSelected(MainWindow& window);
/// The same into that file: `extract --nodes`, with the inputs, backend and threads of the settings of runs. Where
/// files are there that the user was not asked about, he is asked before anything is written. `isAsked`: about `path`
/// he was.
void extractSelected(MainWindow& window, const QString& path, bool isAsked = true);
/// Ends what is being extracted, and closes what was said of it.
void cancelExtraction(MainWindow& window);

}  // namespace fusescope
