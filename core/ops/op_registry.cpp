#include "ops/op_schema.h"

#include <algorithm>
#include <tuple>

namespace fusescope {

const OpSchema* OpRegistry::find(std::string_view domain, std::string_view op) const {
  const auto found = m_schemas.find(Name(domain, op));
  return found == m_schemas.end() ? nullptr : &found->second;
}

std::vector<const OpSchema*> OpRegistry::all() const {
  std::vector<const OpSchema*> schemas;
  for (const auto& [key, schema] : m_schemas) schemas.push_back(&schema);
  std::ranges::sort(schemas, {}, [](const OpSchema* schema) { return std::tie(schema->domain, schema->op); });
  return schemas;
}

void OpRegistry::add(OpSchema schema) {
  auto key = std::pair(schema.domain, schema.op);
  m_schemas.insert_or_assign(std::move(key), std::move(schema));
}

}  // namespace fusescope
