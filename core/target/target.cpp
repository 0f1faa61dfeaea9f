#include "target/target.h"

#include <algorithm>

#include "base/text.h"
#include "target/target_table.h"

namespace fusescope {

namespace {

Result<Capabilities> parseCapabilities(const TargetTable& table, std::string_view text) {
  Capabilities capabilities;
  const bool machines = !table.defaultCapability.empty();
  if (text == "none" && !machines) return capabilities;
  for (const std::string& part : split(text, '+')) {
    if (std::ranges::find(table.capabilities, part) == table.capabilities.end()) {
      return Diagnostic{
          .message = "unknown capability '" + part + "' of target " + table.name,
          .where = {.attribute = "--target"},
          .help = "Known capabilities: " + std::string(machines ? "" : "none, ") + joined(table.capabilities) + "."};
    }
    capabilities.insert(part);
  }
  if (machines && capabilities.size() > 1)
    return Diagnostic{.message = table.name + " can only be planned for one machine at a time",
                      .where = {.attribute = "--target"},
                      .help = "Known machines: " + joined(table.capabilities) + "."};
  return capabilities;
}

/// Returns the types of a target: those of its table without those that the given machine lacks.
TypeSet typesOnMachine(const TargetTable& table, const Capabilities& capabilities) {
  if (table.defaultCapability.empty()) return table.typeSet;
  TypeSet types;
  for (const TargetType& entry : table.types) {
    const auto has = [&](const std::string& need) { return capabilities.contains(need); };
    if (entry.needs.empty() || std::ranges::any_of(entry.needs, has)) types = types | TypeSet{entry.type};
  }
  return types;
}

/// Returns a capability of the target whose instructions calculate in `type`; empty if there is none, or if none is
/// needed.
std::string instructionsFor(const TargetTable& table, DataType type, const Capabilities& capabilities) {
  const auto entry = std::ranges::find(table.types, type, &TargetType::type);
  if (entry == table.types.end()) return {};
  const auto found =
      std::ranges::find_if(entry->needs, [&](const std::string& need) { return capabilities.contains(need); });
  return found == entry->needs.end() ? std::string() : *found;
}

bool isWidened(const TargetTable& table, DataType type) {
  return std::ranges::find(table.widened, type) != table.widened.end();
}

/// Returns whether the hardware calculates in `type`, or need not.
bool hardwareHas(const TargetTable& table, DataType type, const Capabilities& capabilities) {
  const auto entry = std::ranges::find(table.types, type, &TargetType::type);
  if (entry == table.types.end()) return false;
  return entry->needs.empty() || isWidened(table, type) || !instructionsFor(table, type, capabilities).empty();
}

/// Returns the embedded table, which lives as long as the program.
std::shared_ptr<const TargetTable> embedded(const TargetTable& table) {
  return {std::shared_ptr<const void>(), &table};
}

}  // namespace

Target Target::fromTable(std::shared_ptr<const TargetTable> table, Capabilities capabilities) {
  Target target;
  target.name = table->name;
  if (!table->capabilities.empty()) target.capabilities = std::move(capabilities);
  if (target.capabilities.empty() && !table->defaultCapability.empty())
    target.capabilities = {table->defaultCapability};
  target.types = typesOnMachine(*table, target.capabilities);
  target.planningOnly = table->planningOnly;
  target.stronglyTyped = table->stronglyTyped;
  target.predictedFusions = table->predictedFusions;
  target.lacksInt64 = table->truncate.contains(DataType::I64);
  target.lacksFloat64 = table->truncate.contains(DataType::F64);
  for (const DataType type : table->computeTypes)
    if (target.types.contains(type)) target.computeTypes.insert(type);
  for (const DataType type : table->runs)
    if (hardwareHas(*table, type, target.capabilities)) target.hardwareTypes.insert(type);
  target.acceleratedBackend = table->backend;
  target.table = std::move(table);
  return target;
}

bool calculatesIn(const Target& target, DataType type) {
  return !isFloat(type) || type == DataType::F32 || target.hardwareTypes.contains(type);
}

std::string arithmeticText(const Target& target, DataType type) {
  if (type == DataType::I8) return "codes multiplied with exact sums of 32 bits";
  if (!target.hardwareTypes.contains(type))
    return "no kernel of Fusescope runs " + std::string(name(type)) +
           " here; the reference calculates it exactly, so values are right, but times have no meaning";
  if (!isWidened(*target.table, type)) return "calculated in " + std::string(name(type));
  const std::string instructions = instructionsFor(*target.table, type, target.capabilities);
  const std::string widens = "stored in 16 bits, calculated in f32 in registers";
  return instructions.empty() ? widens : "convolutions and products by " + instructions + "; else " + widens;
}

Result<Target> Target::fromName(std::string_view name) {
  const std::string_view base = name.substr(0, name.find(':'));
  if (const TargetTable* table = findTargetTable(base)) {
    const bool ofHost = !table->capabilities.empty() && table->defaultCapability.empty();
    if (base == name) return fromTable(embedded(*table), ofHost ? hostCapabilities() : Capabilities());
    if (!table->capabilities.empty())
      return fromTable(embedded(*table), TRY(parseCapabilities(*table, name.substr(base.size() + 1))));
  }
  return Diagnostic{.message = "unknown target '" + std::string(name) + "'",
                    .where = {.attribute = "--target"},
                    .help = "Known targets: " + joined(targetNames()) +
                            "; cpu can be followed by capabilities, as in cpu:avx2+avx512_vnni, and "
                            "tensorrt-rtx by a compute capability, as in tensorrt-rtx:sm120."};
}

std::string Target::canonical() const {
  if (table == nullptr || table->capabilities.empty()) return name;
  if (capabilities.empty()) return name + ":none";
  return name + ":" + joined({capabilities.begin(), capabilities.end()}, "+");
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const EmbeddedTable& table : embeddedTargetTables())
    names.emplace_back(table.file.substr(0, table.file.rfind('.')));
  return names;
}

}  // namespace fusescope
