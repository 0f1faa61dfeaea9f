#include "ir/cause.h"

namespace fusescope {

namespace {

constexpr std::string_view kRulePrefix = "fuse_", kOptionPrefix = "--";

}  // namespace

Cause Cause::fromText(std::string_view text) {
  if (text.starts_with(kRulePrefix)) return rule(text.substr(kRulePrefix.size()));
  if (text.starts_with(kOptionPrefix)) return option(std::string(text));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return text;
  return directive(text.substr(0, colon), std::string(text.substr(colon + 1)));
}

std::string Cause::text() const {
  switch (kind) {
    case CauseKind::Part:
    case CauseKind::Option:
      return name;
    case CauseKind::Rule:
      return std::string(kRulePrefix) + name;
    case CauseKind::Directive:
      return name + ":" + id;
  }
  return name;
}

}  // namespace fusescope
