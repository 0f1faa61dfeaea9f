#include <algorithm>
#include <array>
#include <utility>

#include "onnxlib/proto_reader.h"
#include "onnxlib/proto_writer.h"
#include "onnxlib/schemas.h"

namespace fusescope::onnxlib {
namespace {

/// Builds the schema's body of the newest version that is at most `opset`, or of the first version.
bool buildBody(const onnx::OpSchema& schema, const FileNode& node, int opset, const std::vector<FileType>& inputTypes,
               onnx::FunctionProto& body) {
  if (schema.HasFunction()) {
    const onnx::FunctionProto* plain = schema.GetFunction(opset);
    if (plain == nullptr) plain = schema.GetFunction();
    if (plain != nullptr) {
      body = *plain;
      return true;
    }
  }
  if (!schema.HasContextDependentFunction()) return false;
  std::vector<onnx::TypeProto> types;
  for (const FileType& type : inputTypes) types.push_back(typeProto(type));
  const onnx::NodeProto proto = nodeProto(node);  // the context keeps pointers to its attributes
  const onnx::FunctionBodyBuildContextImpl context(proto, types);
  int version = onnx::OpSchema::kUninitializedSinceVersion;
  for (const int candidate : schema.context_dependent_function_opset_versions())
    if (candidate <= opset) version = std::max(version, candidate);
  return schema.BuildContextDependentFunction(context, body, version);
}

}  // namespace

const onnx::OpSchema* schemaOf(const std::string& domain, const std::string& op, std::int64_t opset) {
  return onnx::OpSchemaRegistry::Schema(op, static_cast<int>(std::min<std::int64_t>(opset, 1'000'000)),
                                        canonicalDomain(domain));
}

std::int64_t newestIrVersion() {
  return onnx::IR_VERSION;
}

std::int64_t irVersionFor(std::int64_t opset) {
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 10> kFirstOpset{
      {{1, 3}, {9, 4}, {10, 5}, {11, 6}, {12, 7}, {15, 8}, {19, 9}, {21, 10}, {23, 11}, {24, 12}}};
  std::int64_t version = kOldestIrVersion;
  for (const auto& [first, ir] : kFirstOpset)
    if (opset >= first) version = ir;
  return std::min(version, newestIrVersion());
}

std::int64_t newestOpset() {
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto found = ranges.find("");
  return found == ranges.end() ? 0 : found->second.second;
}

std::int64_t operatorVersion(const std::string& domain, const std::string& op, std::int64_t opset) {
  const onnx::OpSchema* schema = schemaOf(domain, op, opset);
  return schema == nullptr ? 0 : schema->since_version();
}

Result<std::optional<FileFunction>> functionBody(const FileNode& node, std::int64_t opset,
                                                 const std::vector<FileType>& inputTypes) {
  try {
    const onnx::OpSchema* schema = schemaOf(node.domain, node.op, opset);
    if (schema == nullptr) return std::optional<FileFunction>();
    onnx::FunctionProto body;
    if (!buildBody(*schema, node, static_cast<int>(opset), inputTypes, body)) return std::optional<FileFunction>();
    const ReadLimits limits;
    TensorReader tensors(nullptr, {}, ExternalFiles("."), limits.tensorBytes);
    FileFunction function = TRY(ProtoReader(tensors, limits).function(body));
    function.opsets.try_emplace("", canonicalDomain(node.domain).empty() ? opset : newestOpset());
    for (const auto& [name, attribute] : schema->attributes()) {
      if (attribute.default_value.name().empty()) continue;
      onnx::FunctionProto defaults;
      *defaults.add_attribute_proto() = attribute.default_value;
      FileFunction read = TRY(ProtoReader(tensors, limits).function(defaults));
      function.defaults.push_back(std::move(read.defaults.front()));
    }
    return std::optional(std::move(function));
  } catch (const std::exception& error) {
    return Diagnostic{.message = std::string("its function body cannot be built: ") + error.what(),
                      .where = {.node = node.displayName()}};
  }
}

}  // namespace fusescope::onnxlib
