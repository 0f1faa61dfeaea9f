#include "compilers/tensorrt/printed_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace fusescope {
namespace {

char levelOf(std::string_view severity) {
  return severity == "internal_error" ? 'F'
         : severity == "error"        ? 'E'
         : severity == "warning"      ? 'W'
         : severity == "info"         ? 'I'
                                      : 'V';
}

}  // namespace

Result<PrintedLog> printedLog(std::string_view messages) {
  PrintedLog printed;
  for (std::size_t number = 1; !messages.empty(); ++number) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    if (line.empty()) continue;
    const Json message = Json::parse(line, nullptr, false);
    if (!message.is_array() || message.size() != 2 || !message[0].is_string() || !message[1].is_string())
      return Diagnostic{.message = fmt::format("line {} of the compiler's log is not a message", number)};
    const auto& words = message[1].get_ref<const std::string&>();
    printed.text += fmt::format("[{}] [TRT] {}\n", levelOf(message[0].get_ref<const std::string&>()), words);
    if (words.starts_with("Layers:")) printed.layers = words;
  }
  return printed;
}

}  // namespace fusescope
