#include "planning/read_back/compiler_support.h"

#include <algorithm>

#include "base/json_fields.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kFoundBy = {"parser", "build"};

Result<NodeSupport> nodeSupportFromJson(const Json& json) {
  NodeSupport support;
  JsonFields fields(json);
  fields.require("node").read("node", support.node).read("code", support.code).read("message", support.message);
  fields.readName("found_by", kFoundBy, support.foundBy);
  if (!fields.error() && json.contains("taken") && json["taken"].is_boolean())
    support.isAccepted = json["taken"].get<bool>();
  return fields.result(std::move(support));
}

}  // namespace

std::string_view name(SupportSource by) {
  return kFoundBy[static_cast<std::size_t>(by)];
}

const NodeSupport* CompilerSupport::find(std::string_view node) const {
  const auto found = std::ranges::find(nodes, node, &NodeSupport::node);
  return found == nodes.end() ? nullptr : &*found;
}

Json toJson(const NodeSupport& support) {
  return {{"node", support.node},
          {"taken", support.isAccepted ? Json(*support.isAccepted) : Json(nullptr)},
          {"code", support.code},
          {"message", support.message},
          {"found_by", name(support.foundBy)}};
}

Json toJson(const CompilerSupport& support) {
  Json list = Json::array();
  for (const NodeSupport& node : support.nodes) list.push_back(toJson(node));
  return list;
}

Result<CompilerSupport> compilerSupportFromJson(const Json& json, const std::string& place) {
  if (!json.is_array()) return Diagnostic{.message = "is not a list", .where = {.attribute = place}};
  CompilerSupport support;
  for (const Json& entry : json) {
    auto node = nodeSupportFromJson(entry);
    if (!node.ok()) {
      Diagnostic error = std::move(node).error();
      error.where.attribute = place + (error.where.attribute.empty() ? "" : "." + error.where.attribute);
      return error;
    }
    support.nodes.push_back(std::move(node).value());
  }
  return support;
}

}  // namespace fusescope
