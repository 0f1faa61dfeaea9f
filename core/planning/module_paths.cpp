#include "planning/module_paths.h"

#include <algorithm>

#include "base/text.h"

namespace fusescope {

namespace {

/// '/layer1/layer1.0/conv1/Conv' is layer1.0.conv1.Conv: a container that is called itself is written before each of
/// its children, whose parts repeat its name.
std::string withoutRepeatedContainers(std::string_view name) {
  const std::vector<std::string> parts = split(name, '/');
  std::string path;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool repeated = i + 1 < parts.size() && parts[i + 1].starts_with(parts[i] + ".");
    if (parts[i].empty() || repeated) continue;
    path += (path.empty() ? "" : ".") + parts[i];
  }
  return path;
}

void addPaths(std::vector<std::string>& paths, std::string_view name) {
  paths.push_back(dottedPath(name));
  paths.push_back(withoutRepeatedContainers(name));
}

}  // namespace

std::string dottedPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string dotted(path);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  return dotted;
}

std::vector<std::string> modulePaths(const Model& model, const Node& node) {
  std::vector<std::string> paths;
  addPaths(paths, node.name);
  for (const OriginId id : node.origins) {
    if (id.index >= model.origins.size()) continue;
    const Origin& origin = model.origins[id.index];
    if (origin.name != node.name) addPaths(paths, origin.name);
    if (!origin.module.empty()) paths.push_back(origin.module + "." + origin.name.substr(origin.name.rfind('/') + 1));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace fusescope
