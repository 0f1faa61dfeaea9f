#include "app/cli/parse_error.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace fusescope::cli {
namespace {

/// Splits the parser's text "LEFT<mark>RIGHT" at the mark. If the mark is missing, the right part is empty.
std::pair<std::string, std::string> parted(const std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

/// Turns "Check f61 value in {f32->0,f64->1} OR {0,1} FAILED" into "'f61' is none of f32, f64".
std::string ofChoices(const std::string& complaint) {
  constexpr std::string_view kCheck = "Check ";
  const auto [value, choices] = parted(complaint, " value in {");
  if (!complaint.starts_with(kCheck) || choices.empty()) return complaint;
  std::vector<std::string> names;
  for (const std::string& choice : split(parted(choices, "}").first, ',')) names.push_back(parted(choice, "->").first);
  return fmt::format("'{}' is none of {}", value.substr(kCheck.size()), joined(names));
}

/// Handles "At Most 1 required but received 2" and "1 required TEXT missing".
std::string ofCount(const std::string& complaint) {
  const auto [most, received] = parted(complaint, " required but received ");
  if (received.empty()) return "its value is missing";
  return most == "At Most 1" ? fmt::format("it is given {} times, but may be given only once", received)
                             : fmt::format("it is given {} values, but takes {}", received, most);
}

std::vector<std::string> partsOf(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* part : verb.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(part->get_name());
  return names;
}

}  // namespace

Diagnostic inWords(const CLI::ParseError& error, const CLI::App& app) {
  const std::string said = error.what();
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string verb = chosen.empty() ? std::string() : " " + chosen.front()->get_name();
  Diagnostic words{.message = said, .help = fmt::format("fusescope{} --help lists its options and arguments.", verb)};
  const auto of = [&](const std::pair<std::string, std::string>& parts, std::string message) {
    words.where.attribute = parts.first;
    words.message = std::move(message);
  };
  if (said == "A subcommand is required" && !chosen.empty()) {
    const std::vector<std::string> unknown = chosen.front()->remaining();
    words.message = unknown.empty()
                        ? fmt::format("the subcommand of {} is missing", chosen.front()->get_name())
                        : fmt::format("'{}' is not a subcommand of {}", unknown.front(), chosen.front()->get_name());
    words.help = fmt::format("Give one of {}.", joined(partsOf(*chosen.front())));
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    of(parted(said, " is required"), "it is missing");
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const auto parts = parted(parted(said, "Could not convert: ").second, " = ");
    if (!parts.second.empty()) of(parts, fmt::format("'{}' is not a value for it", parts.second));
  } else if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    const auto parts = parted(said, ": ");
    if (!parts.second.empty()) of(parts, ofChoices(parts.second));
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const auto parts = parted(said, ": ");
    if (!parts.second.empty()) of(parts, ofCount(parts.second));
  } else if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const auto parts = parted(said, " requires ");
    if (!parts.second.empty()) of(parts, fmt::format("it can be used only together with {}", parts.second));
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const auto parts = parted(said, " excludes ");
    if (!parts.second.empty()) of(parts, fmt::format("it cannot be given together with {}", parts.second));
  }
  return words;
}

}  // namespace fusescope::cli
