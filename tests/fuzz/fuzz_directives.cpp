// Directives of any text are refused in words or survive being written and read again; so do the forms of the command
// line.

#include "base/json.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::asText({data, size});
  for (const DirectiveForm* form : directiveForms())
    if (form->parse != nullptr) (void)form->parse(text);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return 0;
  const auto read = directivesFileFromJson(json);
  if (!read.ok()) return 0;
  const Json written = toJson(read.value());
  const auto again = directivesFileFromJson(written);
  if (!again.ok()) fuzz::report("what was written is read", again.error().text());
  if (toJson(again.value()) != written) fuzz::report("directives survive a round trip", written.dump());
  return 0;
}
