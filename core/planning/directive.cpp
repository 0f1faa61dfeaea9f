#include "planning/directive.h"

#include <array>
#include <set>

namespace fusescope {

namespace {

constexpr std::array<std::string_view, 2> kStrictnessNames = {"prefer", "obey"};

}  // namespace

std::string_view name(Strictness strictness) {
  return kStrictnessNames[static_cast<std::size_t>(strictness)];
}

Result<DataType> precisionType(std::string_view text, std::string_view where) {
  const std::optional<DataType> type = dataTypeFromName(text);
  if (type && ((isFloat(*type) && *type != DataType::F64) || *type == DataType::I8)) return *type;
  return Diagnostic{.message = "'" + std::string(text) + "' is not a type that precision can be lowered to",
                    .where = {.attribute = std::string(where)},
                    .help = "Use f32, f16, bf16, f8e4m3, f8e5m2, or int8 with --ranges."};
}

void assignIds(Directives& directives) {
  std::set<std::string> taken;
  for (const Directive& directive : directives) taken.insert(directive.id);
  std::size_t next = 1;
  for (Directive& directive : directives) {
    if (!directive.id.empty()) continue;
    while (taken.contains(std::to_string(next))) ++next;
    directive.id = std::to_string(next);
    taken.insert(directive.id);
  }
}

}  // namespace fusescope
