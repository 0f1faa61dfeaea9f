#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ui/canvas/canvas_scene.h"

namespace fusescope {

/// Makes room for growing boxes in a scene that was laid out: ranks below move down, boxes beside it in the rank move
/// right as far as necessary, the surrounding container grows, and so on outwards. In a wrapped level this happens in
/// the strip of the box, and the strips to the right of it move. Nothing else moves, and the order does not change. The
/// result depends only on the scene and on what grows, not on what was open before.
class CanvasRoom {
 public:
  struct Grown {
    int item = -1;
    QSizeF size;
    double left = 0;  ///< the preferred left position if nothing had moved
  };

  CanvasRoom(const CanvasScene& scene, const std::vector<Grown>& grown);

  QRectF rectOf(int item) const;
  /// The ends of an edge if they are not where its boxes moved, in the new coordinates.
  struct Ends {
    std::optional<QPointF> from, to;
  };
  /// Appends the curve of an edge in the form of CanvasCurves.
  void appendCurve(int edge, const Ends& ends, std::vector<QPointF>& points) const;

 private:
  /// An item in a rank, or a wire through it. `left` and `right` are coordinates of the original scene.
  struct Member {
    double left, right;
    int item;  ///< -1 for a wire
    double moves = 0;
  };
  /// A rank that contains growing items.
  struct Rank {
    double top, bottom;
    double grows = 0;
    std::vector<Member> members{};  ///< from left to right
    double movesAt(double x) const;
    bool contains(double y) const;
  };
  struct Stretch {
    double gutter, left;        ///< the left edges of the gutter before it and of the stretch itself
    double end;                 ///< the right edge of its boxes
    double moves = 0;           ///< how far it moves to the right
    std::vector<Rank> ranks{};  ///< from top to bottom
    double drop(double y) const;
    const Rank* at(double y) const;
  };
  struct Level {
    std::vector<Stretch> stretches;  ///< from left to right; a level that is not wrapped has one
    double wider = 0, taller = 0;
    std::size_t indexAt(double x) const;  ///< the gutter before a stretch belongs to it
    const Stretch& at(double x) const { return stretches[indexAt(x)]; }
    bool isGutter(double x) const;
    double drop(const QPointF& point) const;
    const Rank* rankAt(const QPointF& point) const;
  };
  using GrownOfLevel = std::vector<Grown>;

  int depthOf(int item) const;
  void makeRoom(int container, const GrownOfLevel& grown);
  double makeRoomIn(int container, Stretch& stretch, const GrownOfLevel& grown);
  std::vector<Stretch> stretchesOf(int container) const;
  Rank rankOf(int container, const Stretch& stretch, const Grown& grown) const;
  void addWires(const Stretch& stretch, Rank& rank) const;
  void push(Rank& rank, const GrownOfLevel& grown, double leftmost) const;
  void touch(const Stretch& stretch, const Rank& rank);
  void moveItems();

  int levelAt(int edge, const QPointF& point) const;
  QPointF moved(int level, const QPointF& point) const;
  const Level* roomIn(int level) const;
  void leadTo(double x, const std::vector<int>& levels, CanvasCurves::Points before, std::vector<QPointF>& stops,
              bool atEnd) const;
  void appendPiece(int level, CanvasCurves::Points piece, const QPointF& from, const QPointF& to,
                   std::vector<QPointF>& points) const;

  const CanvasScene& m_scene;
  std::map<int, Level> m_levels;  ///< by container; -1 is the top level
  std::unordered_map<int, QSizeF> m_sizes;
  std::vector<QPointF> m_moves;  ///< indexed by item
  std::vector<bool> m_touched;   ///< by edge: whether it has to bend in another way than before
};

/// Extend a chain of curves by a straight piece, or by a curve from one vertical direction to another. They append
/// nothing if the chain ends there already.
void appendStraight(std::vector<QPointF>& points, const QPointF& to);
void appendBend(std::vector<QPointF>& points, const QPointF& to);

}  // namespace fusescope
