#include "base/key_fields.h"

namespace fusescope {

std::string_view KeyFields::text() {
  std::uint64_t size = 0;
  if (!m_isWhole || m_rest.size() < sizeof size) {
    m_isWhole = false;
    return {};
  }
  std::memcpy(&size, m_rest.data(), sizeof size);
  m_rest.remove_prefix(sizeof size);
  if (size > m_rest.size()) {
    m_isWhole = false;
    return {};
  }
  const std::string_view field = m_rest.substr(0, size);
  m_rest.remove_prefix(size);
  return field;
}

}  // namespace fusescope
