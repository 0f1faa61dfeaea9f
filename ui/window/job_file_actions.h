#pragma once

#include <QString>
#include <string>

namespace fusescope {

class MainWindow;

/// Asks for a compiler and a file, and writes a job for the plan on screen: what is made, outputs, times.
void writeJob(MainWindow& window);
/// The same for that compiler ("onnxruntime") into that file.
void writeJob(MainWindow& window, const std::string& compiler, const QString& path);

/// Asks for the result of a job.
void openResult(MainWindow& window);
/// Opens the network that a job was packed of, unless that is open, and shows the result as a run: what was made, times
/// and outputs as they were told there. Nothing of the result is run.
void openResult(MainWindow& window, const QString& path);

/// Whether a file is called as results of jobs are.
bool isResultFile(const QString& path);

}  // namespace fusescope
