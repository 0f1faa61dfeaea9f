#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Returns why the inputs of what is open cannot be written into a network; empty if they can.
QString saveInputsRefusal(MainWindow& window);
/// Asks for a file, and writes the network with the descriptions of its inputs to it, as `inputs -o` does. A message in
/// the bar of messages confirms it.
void saveInputs(MainWindow& window);
/// Does the same with the file `path`.
void saveInputs(MainWindow& window, const QString& path);

}  // namespace fusescope
