#include "interchange/source_network.h"

#include <fmt/format.h>

#include "base/named_file.h"
#include "frontends/importers.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

bool leadsTo(const std::filesystem::path& path, const MappedFile& file) {
  const auto there = identityOf(path);
  return there.ok() && there.value().device == file.identity().device && there.value().inode == file.identity().inode;
}

/// The first constant of `graph` that is of another number in `other`, which has one of its name, type and extents;
/// null where all agree. (What was folded is in one of them only.)
const Value* otherNumbers(const Graph& graph, const Graph& other) {
  for (const ValueId id : graph.allValues()) {
    const Value& value = graph.value(id);
    const auto same = value.constant == nullptr ? std::nullopt : other.findValue(value.name);
    const Tensor* there = same ? other.value(*same).constant.get() : nullptr;
    const bool comparable = there != nullptr && there->hasData() && value.constant->hasData() &&
                            there->type() == value.constant->type() && there->dims() == value.constant->dims();
    if (comparable && !there->identical(*value.constant)) return &value;
  }
  return nullptr;
}

}  // namespace

Result<std::filesystem::path> sourceNetwork(const Plan& plan, const StopToken& stop) {
  const Model& model = *unquantized(plan.model);
  TRY(checkCurrent(model.files));
  if (model.files.empty() || leadsTo(model.path, *model.files.front()))
    return std::filesystem::path(model.networkPath());
  const std::string& engine = model.files.front()->identity().path;
  const std::filesystem::path path = fileNamedIn(engine, model.path);
  constexpr const char* kHelp = "Put the model from which it was built there, or build it again.";
  if (std::error_code error; !std::filesystem::exists(path, error))
    return Diagnostic{.message = fmt::format("the network from which {} was built is not there", engine),
                      .where = {.file = path.string()},
                      .help = kHelp};
  const Model there = TRY(importModel(path, {}, stop));
  const Value* other = there.contentHash == model.contentHash ? otherNumbers(*model.graph, *there.graph) : nullptr;
  if (there.contentHash == model.contentHash && other == nullptr) return std::filesystem::path(there.networkPath());
  return Diagnostic{.message = fmt::format("this is not the network from which {} was built", engine),
                    .where = {.file = path.string(), .value = other == nullptr ? std::string() : other->name},
                    .help = kHelp};
}

Result<std::string> networkForTools(const Plan& plan, const StopToken& stop) {
  const Model& model = *plan.model;
  const bool isProgram = model.network.empty() && std::filesystem::path(model.path).extension() == ".pt2";
  return isProgram ? TRY(sourceNetwork(plan, stop)).string() : model.networkPath();
}

}  // namespace fusescope
