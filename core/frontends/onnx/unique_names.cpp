#include "frontends/onnx/unique_names.h"

namespace fusescope {

std::string UniqueNames::take(const std::string& wanted) {
  if (m_used.insert(wanted).second) return wanted;
  int& number = m_lastNumber.try_emplace(wanted, 1).first->second;
  for (;;) {
    std::string name = wanted + "#" + std::to_string(++number);
    if (m_used.insert(name).second) return name;
  }
}

}  // namespace fusescope
