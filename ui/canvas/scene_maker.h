#pragma once

#include <memory>

#include "ui/canvas/canvas_builder.h"

namespace fusescope {

/// Makes scenes of covers with their layout. A small scene is made and laid out as a whole, in the order of the earlier
/// picture if there is one. For a large network, the scene in which no fused node is open is kept, and opening or
/// closing something changes only the surroundings (openedScene()), whatever was open before. It is used by one thread
/// at a time.
class SceneMaker {
 public:
  /// The number of fused nodes from which a network is large.
  static constexpr std::size_t kLarge = 3'000;
  /// If more are open, everything is laid out together again.
  static constexpr int kMostOpened = 100;

  explicit SceneMaker(std::shared_ptr<const CanvasFonts> fonts, std::size_t large = kLarge)
      : m_fonts(std::move(fonts)), m_large(large) {}

  /// `modules` are blocks of the cover's model; null: none are drawn.
  Result<std::shared_ptr<const CanvasScene>> make(const std::shared_ptr<const Cover>& cover, const OpenState& open,
                                                  const LayoutOptions& options,
                                                  const std::shared_ptr<const ModuleTree>& modules = nullptr);
  /// Returns the parts that the scenes of a cover share. They are kept until another cover is requested.
  std::shared_ptr<const CoverParts> partsOf(const std::shared_ptr<const Cover>& cover,
                                            const std::shared_ptr<const ModuleTree>& modules);
  /// Deletes everything that is kept.
  void forget() {
    m_base.reset();
    m_parts.reset();
  }

 private:
  /// A cover with its open containers, except open fused nodes that contain no bodies.
  struct Base {
    std::shared_ptr<const CoverParts> parts;
    OpenState open;
    BuiltCanvas built;
  };
  Result<std::shared_ptr<Base>> baseOf(const std::shared_ptr<const CoverParts>& parts, const OpenState& open,
                                       const LayoutOptions& options) const;

  const std::shared_ptr<const CanvasFonts> m_fonts;
  const std::size_t m_large;
  std::shared_ptr<Base> m_base;
  std::shared_ptr<const CoverParts> m_parts;
  std::shared_ptr<const ModuleTree> m_modules;  ///< the modules with which they were made
};

}  // namespace fusescope
