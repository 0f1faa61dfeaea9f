#include "probe/job_events.h"

#include <fmt/format.h>

#include "probe/frames.h"
#include "probe/started_process.h"

namespace fusescope {

/// Makes the error of a refusal. The kind "asked" means that the compiler does not support the request for any network.
Diagnostic refusalFrom(const Json& event) {
  Diagnostic refusal{.message = textOf(event, "message"), .help = textOf(event, "help")};
  if (textOf(event, "kind") == "asked") refusal.where.attribute = "--compiler";
  return refusal;
}

Diagnostic endFrom(const Json& event, std::string_view compiler, std::string_view place, std::string_view op) {
  constexpr std::uint64_t kKill = 9;
  const std::uint64_t signal = countOf(event, "signal");
  const std::string how = signal == 0 ? fmt::format("ended with status {}", countOf(event, "status"))
                                      : fmt::format("was ended by {}", signalInWords(static_cast<int>(signal)));
  std::string text = fmt::format("the process of {} in \"{}\" {} while it worked on \"{}\"", compiler, place, how, op);
  if (const std::string log = textOf(event, "log"); !log.empty()) text += "; the end of its log is: " + log;
  std::string help;
  if (signal == kKill) {
    help = "The system ends a process in this way when memory runs out.";
  } else if (op == "open") {
    help = "Check whether this Python can import it, and if it cannot, install its package again.";
  }
  return {.message = std::move(text), .help = std::move(help)};
}

}  // namespace fusescope
