#include "ops/type_set.h"

namespace fusescope {

std::string TypeSet::text() const {
  std::string text;
  for (auto i = static_cast<unsigned>(DataType::F64); i <= static_cast<unsigned>(DataType::C128); ++i) {
    const auto type = static_cast<DataType>(i);
    if (contains(type)) text += (text.empty() ? "" : ", ") + std::string(name(type));
  }
  return text;
}

}  // namespace fusescope
