#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A log that the probe wrote, as programs of TensorRT print theirs.
struct PrintedLog {
  std::string text;    ///< "[V] [TRT] words", a line and more for each message
  std::string layers;  ///< the message that lists the layers of the engine; empty: none does
};

/// Reads a line of JSON for each message: [severity, text]. Errors: a line is no such thing; its number is told.
Result<PrintedLog> printedLog(std::string_view messages);

}  // namespace fusescope
