#include "compilers/tensorrt/engine_builds.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/shell_quoted.h"
#include "base/text.h"

namespace fusescope {
namespace {

/// How the build of an engine for a target is given types.
enum class TypesBy {
  Flags,         ///< by trtexec's options for layers
  StronglyTyped  ///< the network itself, which is built as it is
};

TypesBy typesBy(const std::string& target) {
  return target.ends_with("-11") ? TypesBy::StronglyTyped : TypesBy::Flags;
}

std::string flagOf(DataType type) {
  switch (type) {
    case DataType::F16:
      return " --fp16";
    case DataType::BF16:
      return " --bf16";
    case DataType::I8:
      return " --int8";
    default:
      return "";
  }
}

std::string layerType(DataType type) {
  return type == DataType::F32 ? "fp32" : type == DataType::F16 ? "fp16" : type == DataType::BF16 ? "bf16" : "int8";
}

class BuildWriter {
 public:
  explicit BuildWriter(const BuiltNetwork& network)
      : m_target(network.target),
        m_lowest(network.lowest),
        m_model(network.path),
        m_stem(std::filesystem::path(network.path).stem().string()) {}

  EngineBuild build(DataType type, std::vector<std::string> nodes) const {
    EngineBuild build{.type = type, .nodes = std::move(nodes)};
    const std::string name = m_stem + "." + toText(type) + (build.nodes.empty() ? "" : "-pins");
    const bool byFlags = typesBy(m_target) == TypesBy::Flags;
    const std::string network = !isFloat(type) ? addIntegers(name, build)
                                : byFlags      ? addFlags(name, build)
                                               : addTyped(name, build);
    if (build.commands.empty()) return build;
    const std::string plan = shellQuoted(name + ".plan"), layers = shellQuoted(name + ".layers.json"),
                      profile = shellQuoted(name + ".profile.json");
    build.commands.push_back(
        fmt::format("trtexec --loadEngine={} --exportProfile={} --separateProfileRun", plan, profile));
    build.commands.push_back(fmt::format("fusescope import-engine {} --layers {} --profile {} --log {} -o {}",
                                         shellQuoted(network), layers, profile, shellQuoted(name + ".log"),
                                         shellQuoted(name + ".json")));
    return build;
  }

 private:
  // Each of these functions adds the commands that build the engine `name`, and returns the network from which it is
  // built.

  std::string addTrtexec(const std::string& onnx, const std::string& name, const std::string& flags,
                         EngineBuild& build) const {
    build.commands.push_back(fmt::format(
        "trtexec --onnx={}{} --saveEngine={} --profilingVerbosity=detailed --exportLayerInfo={} --verbose > {}",
        shellQuoted(onnx), flags, shellQuoted(name + ".plan"), shellQuoted(name + ".layers.json"),
        shellQuoted(name + ".log")));
    return onnx;
  }

  /// Builds for TensorRT 8.4 to 10, with one type for all layers or for some of them.
  std::string addFlags(const std::string& name, EngineBuild& build) const {
    if (build.nodes.empty())
      return addTrtexec(m_model, name,
                        build.type == DataType::F32
                            ? std::string()
                            : fmt::format("{} --precisionConstraints=obey '--layerPrecisions=*:{}'", flagOf(build.type),
                                          layerType(build.type)),
                        build);
    std::vector<std::string> items;
    for (const std::string& node : build.nodes) {
      if (node.find_first_of(",'*") != std::string::npos) {
        build.note =
            fmt::format("trtexec cannot set the type of the layer '{}': use fusescope export --to polygraphy.", node);
        return m_model;
      }
      items.push_back(node + ":" + layerType(build.type));
    }
    const DataType other = build.type == DataType::F32 ? m_lowest : build.type;
    build.note =
        "trtexec ignores names that its parser does not give to layers: the log must contain 'Set layer' for each.";
    return addTrtexec(m_model, name,
                      fmt::format("{} --precisionConstraints=obey {}", flagOf(other),
                                  shellQuoted("--layerPrecisions=" + joined(items, ","))),
                      build);
  }

  /// Builds from a network into which the types are written.
  std::string addTyped(const std::string& name, EngineBuild& build) const {
    if (build.nodes.empty() && build.type == DataType::F32) return addTrtexec(m_model, name, "", build);
    const DataType others = build.nodes.empty() ? build.type : build.type == DataType::F32 ? m_lowest : DataType::F32;
    std::string pins;
    for (const std::string& node : build.nodes)
      pins += " --pin " + shellQuoted(node + "=" + toText(build.type) + ":obey");
    const std::string network = name + ".onnx";
    build.commands.push_back(fmt::format("fusescope export {} --target {} --precision {}{} --to onnx -o {}",
                                         shellQuoted(m_model), m_target, toText(others), pins, shellQuoted(network)));
    build.note = "The engine is made from the network that export writes: its times are prices for plans of that file.";
    return addTrtexec(network, name, "", build);
  }

  /// Builds with int8, which needs ranges and therefore samples.
  std::string addIntegers(const std::string& name, EngineBuild& build) const {
    const std::string network = name + ".onnx", ranges = m_stem + ".ranges.json";
    build.commands.push_back(
        fmt::format("fusescope calibrate {} --inputs SAMPLES.npz -o {}", shellQuoted(m_model), shellQuoted(ranges)));
    build.commands.push_back(fmt::format("fusescope export {} --target {} --precision int8 --ranges {} --to onnx -o {}",
                                         shellQuoted(m_model), m_target, shellQuoted(ranges), shellQuoted(network)));
    build.note =
        "SAMPLES.npz contains inputs like those that the network will receive: int8 needs the ranges that are measured "
        "on them.";
    // TensorRT 8 must be allowed to use the codes that a network contains; from version 10 on, such a network is built
    // as it is.
    const bool isOld = m_target.ends_with("-8"), isNewest = typesBy(m_target) == TypesBy::StronglyTyped;
    return addTrtexec(network, name, isOld ? " --int8" : isNewest ? "" : " --stronglyTyped", build);
  }

  std::string m_target;
  DataType m_lowest;
  std::string m_model, m_stem;
};

}  // namespace

EngineBuild engineBuild(const BuiltNetwork& network, DataType type, std::vector<std::string> nodes) {
  return BuildWriter(network).build(type, std::move(nodes));
}

}  // namespace fusescope
