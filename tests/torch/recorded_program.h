#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "tests/torch/torch_fixture.h"

namespace fusescope::test {

/// An exported program, and an environment whose torch is a stand-in that gives what torch made of it before.
class RecordedProgram : public Torch {
 protected:
  RecordedProgram() {
    namespace fs = std::filesystem;
    ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
    fs::copy(TORCH_TESTS "/programs", m_folder / "recording", fs::copy_options::recursive);
  }
  ~RecordedProgram() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  std::string arrays() const { return m_folder / "recording/io.npz"; }
  /// The command of the Python that has the stand-in.
  std::string environment() const {
    return "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + (m_folder / "recording/stand_in").string() +
           " FUSESCOPE_TEST_RECORDING=" + (m_folder / "recording").string() + " python3";
  }
  /// Changes what the stand-in gives.
  template <class Change>
  void inRecording(Change change) const {
    const std::filesystem::path path = m_folder / "recording/told.json";
    Json told = Json::parse(readTextFile(path).value());
    change(told);
    std::ofstream(path) << told.dump();
  }
};

}  // namespace fusescope::test
