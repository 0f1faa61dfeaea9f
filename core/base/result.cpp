#include "base/result.h"

namespace fusescope {

std::string Diagnostic::text() const {
  std::string line;
  const auto part = [&line](const char* label, const std::string& name) {
    if (name.empty()) return;
    line += label;
    line += name;
    line += label[0] == '\0' ? ": " : "': ";
  };
  part("", where.file);
  part("node '", where.node);
  part("tensor '", where.value);
  part("attribute '", where.attribute);
  line += message;
  if (!help.empty()) line += ". " + help;
  return line;
}

}  // namespace fusescope
