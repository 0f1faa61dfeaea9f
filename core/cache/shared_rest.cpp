#include "cache/shared_rest.h"

#include <tuple>

#include "base/age.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace fusescope {
namespace {

constexpr const char* kFormat = "fusescope.shared_rest";

}  // namespace

std::optional<SharedRest> restOf(const std::filesystem::path& file, const std::string& place,
                                 std::chrono::seconds longest) {
  if (file.empty()) return std::nullopt;
  const auto text = readTextFile(file);
  const Json json = text.ok() ? Json::parse(text.value(), nullptr, false) : Json();
  SharedRest rest;
  std::string format, named;
  std::int64_t next = 0;
  JsonFields fields(json);
  fields.require("format").read("format", format).require("place").read("place", named);
  fields.require("until").read("until", rest.until).require("seconds").read("seconds", next).read("why", rest.why);
  const std::int64_t left = rest.until - secondsNow();
  if (fields.error() || format != kFormat || named != place || left <= 0 || left > longest.count()) return std::nullopt;
  rest.next = std::chrono::seconds(next);
  return rest;
}

void keepRest(const std::filesystem::path& file, const std::string& place, const SharedRest& rest) {
  if (file.empty()) return;
  const Json json{
      {"format", kFormat}, {"version", 1}, {"place", place}, {"until", rest.until}, {"seconds", rest.next.count()},
      {"why", rest.why}};
  std::ignore = writeFileAtomically(file, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void endRest(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!file.empty()) std::filesystem::remove(file, ignored);
}

}  // namespace fusescope
