#include "engine/description/tactic_json.h"

#include "base/json.h"

namespace fusescope {
namespace {

Json parameterToJson(const TacticParameter& parameter) {
  if (const auto* truth = std::get_if<bool>(&parameter)) return {{"bool", *truth}};
  if (const auto* number = std::get_if<std::int64_t>(&parameter)) return {{"int", *number}};
  if (const auto* text = std::get_if<std::string>(&parameter)) return {{"text", *text}};
  return {{"format", std::get<MemoryFormat>(parameter).text()}};
}

std::optional<TacticParameter> parameterFromJson(const Json& json) {
  if (json.contains("bool")) return json.at("bool").get<bool>();
  if (json.contains("int")) return json.at("int").get<std::int64_t>();
  if (json.contains("text")) return json.at("text").get<std::string>();
  if (!json.contains("format")) return std::nullopt;
  const auto format = MemoryFormat::parse(json.at("format").get<std::string>());
  return format ? std::optional<TacticParameter>(*format) : std::nullopt;
}

Json formatsToJson(const std::vector<MemoryFormat>& formats) {
  Json json = Json::array();
  for (const MemoryFormat& format : formats) json.push_back(format.text());
  return json;
}

bool readFormats(const Json& json, std::vector<MemoryFormat>& formats) {
  for (const Json& text : json) {
    const auto format = MemoryFormat::parse(text.get<std::string>());
    if (!format) return false;
    formats.push_back(*format);
  }
  return true;
}

/// The fields of Numerics by name.
constexpr std::pair<const char*, bool Numerics::*> kNumerics[] = {{"flushes", &Numerics::flushes},
                                                                  {"saturates", &Numerics::saturates},
                                                                  {"fast_math", &Numerics::fastMath},
                                                                  {"emulated", &Numerics::emulated}};

}  // namespace

Json toJson(const Tactic& tactic) {
  Json parameters = Json::object(), numerics = Json::array();
  for (const auto& [name, parameter] : tactic.parameters) parameters[name] = parameterToJson(parameter);
  for (const auto& [name, field] : kNumerics)
    if (tactic.numerics.*field) numerics.push_back(name);
  return {{"name", tactic.name},
          {"backend", tactic.backend},
          {"implementation", tactic.implementation},
          {"parameters", std::move(parameters)},
          {"inputs", formatsToJson(tactic.inputs)},
          {"outputs", formatsToJson(tactic.outputs)},
          {"numerics", std::move(numerics)}};
}

std::optional<Tactic> tacticFromJson(const Json& json) {
  Tactic tactic{.name = json.at("name").get<std::string>(),
                .backend = json.at("backend").get<std::string>(),
                .implementation = json.at("implementation").get<std::string>()};
  for (const auto& [name, value] : json.at("parameters").items()) {
    const auto parameter = parameterFromJson(value);
    if (!parameter) return std::nullopt;
    tactic.parameters.emplace(name, *parameter);
  }
  if (!readFormats(json.at("inputs"), tactic.inputs) || !readFormats(json.at("outputs"), tactic.outputs))
    return std::nullopt;
  for (const Json& word : json.at("numerics"))
    for (const auto& [name, field] : kNumerics)
      if (word == name) tactic.numerics.*field = true;
  return tactic;
}

}  // namespace fusescope
