#pragma once

#include "tests/support/pt2_files.h"
#include "tests/support/recorded_answers.h"

namespace fusescope::test {

/// The command beside networks that have an exported program.
using Torch = ToldPlans;

/// Answers that were recorded (recordings/README.md), in place of a compiler that is handed the exported program.
class RecordedProgramAnswers : public RecordedAnswers {
 protected:
  /// A job for a network whose program is any file: what is answered was recorded.
  ProcessResult packFor(const std::string& compiler, const std::filesystem::path& model,
                        const std::vector<std::string>& more) const {
    m_folder.write("model.pt2", pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
    return RecordedAnswers::packFor(compiler, model, more);
  }
  void replay(const std::string& recording) const {
    RecordedAnswers::replay(TORCH_TESTS "/recordings/" + recording + ".zip");
  }
};

}  // namespace fusescope::test
