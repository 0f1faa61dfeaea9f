#pragma once

#include <QString>
#include <string>

namespace fusescope {

class MainWindow;

/// Asks for a compiler and a file, and writes a job for the displayed plan: kernels, outputs, times.
void writeJob(MainWindow& window);
/// Does the same for that compiler ("onnxruntime") with that file.
void writeJob(MainWindow& window, const std::string& compiler, const QString& path);

/// Asks for the result of a job and opens it.
void openResult(MainWindow& window);
/// Opens the network for which a job was packed, unless it is open, and shows the result as a run with the recorded
/// kernels, times and outputs. Nothing of the result is run.
void openResult(MainWindow& window, const QString& path);

}  // namespace fusescope
