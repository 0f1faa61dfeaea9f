#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace fusescope {

enum class CauseKind {
  Part,      ///< a part of the program by its name: a pass, a step of the planner or of a build, the table of a target
  Rule,      ///< a fusion rule
  Option,    ///< an option as the command line has it
  Directive  ///< one of the list in a plan's options
};

/// Who decided something, or gave a node its type. text() is the only printer and fromText() the only parser; they are
/// inverse to each other, since no part begins with "fuse_" or "--" or holds a colon.
struct Cause {
  CauseKind kind = CauseKind::Part;
  std::string name;  ///< of the part or the rule; the option; the directive's kind, "pin"
  std::string id{};  ///< of a directive: its id in its list

  Cause() = default;
  /// The part of that name.
  Cause(std::string part) : name(std::move(part)) {}
  Cause(std::string_view part) : name(part) {}
  Cause(const char* part) : name(part) {}
  static Cause rule(std::string_view name) { return {CauseKind::Rule, std::string(name), {}}; }
  static Cause option(std::string text) { return {CauseKind::Option, std::move(text), {}}; }
  static Cause directive(std::string_view kind, std::string id) {
    return {CauseKind::Directive, std::string(kind), std::move(id)};
  }
  static Cause fromText(std::string_view text);

  bool isDirective() const { return kind == CauseKind::Directive; }
  std::string text() const;  ///< "infer_types", "fuse_conv", "--pin fc1=f32", "pin:3"
  auto operator<=>(const Cause&) const = default;
  bool operator==(const Cause&) const = default;
  bool operator==(std::string_view text) const = delete;  ///< compare causes with causes, texts with text()

 private:
  Cause(CauseKind kind, std::string name, std::string id) : kind(kind), name(std::move(name)), id(std::move(id)) {}
};

}  // namespace fusescope
