#include <onnx/checker.h>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

std::optional<std::string> checkerComplaint(const std::filesystem::path& path) {
  try {
    onnx::checker::check_model(path.string(), true);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return std::nullopt;
}

}  // namespace fusescope::onnxlib
