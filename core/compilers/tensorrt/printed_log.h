#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A log that the probe wrote, in the form that programs of TensorRT print.
struct PrintedLog {
  std::string text;    ///< "[V] [TRT] words", one or more lines for each message
  std::string layers;  ///< the message with the layers of the engine; empty: there is none
};

/// Reads one line of JSON, [severity, text], for each message. Errors: a line has another form; the error gives its
/// number.
Result<PrintedLog> printedLog(std::string_view messages);

}  // namespace fusescope
