#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace fusescope {

enum class CauseKind {
  Part,      ///< a part of the program, by its name: a pass, a step of planning or of the build, a target's table
  Rule,      ///< a fusion rule
  Option,    ///< an option, as it is written on the command line
  Directive  ///< a directive in the list of a plan's options
};

/// The cause of a decision, or of the type that a node has. text() is the only printer and fromText() the only parser.
/// They are inverse to each other, because no name of a part begins with "fuse_" or "--" or contains a colon.
struct Cause {
  CauseKind kind = CauseKind::Part;
  std::string name;  ///< the name of the part or rule; the option; or the directive's kind, such as "pin"
  std::string id{};  ///< the directive's id in its list; empty for other causes

  Cause() = default;
  /// Makes the cause that is the part of this name.
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
  bool operator==(std::string_view text) const = delete;  ///< causes are compared with causes, and texts with text()

 private:
  Cause(CauseKind kind, std::string name, std::string id) : kind(kind), name(std::move(name)), id(std::move(id)) {}
};

}  // namespace fusescope
