#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Why the inputs of what is open cannot be written into a network; empty: they can.
QString saveInputsRefusal(MainWindow& window);
/// Asks where, and writes the network there with what is known of its inputs: what `inputs -o` does. Says so in the
/// window's bar of messages once it is written.
void saveInputs(MainWindow& window);
/// The same to `path`.
void saveInputs(MainWindow& window, const QString& path);

}  // namespace fusescope
