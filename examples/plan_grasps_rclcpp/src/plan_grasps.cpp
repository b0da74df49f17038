// Asks the suite for grasps with feedback and cancel, and notices a planner that is lost.
//
//   ros2 run plan_grasps_rclcpp plan_grasps --ros-args -p mesh:=/data/apple.stl -p enough:=3

#include <action_msgs/msg/goal_status.hpp>
#include <gripsim_interfaces/action/plan_grasps.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_action/rclcpp_action.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

using PlanGrasps = gripsim_interfaces::action::PlanGrasps;
using GoalHandle = rclcpp_action::ClientGoalHandle<PlanGrasps>;
using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace
{

// Nobody is there, went away, or owes an answer for too long.
class ServerLost : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

class Planner
{
public:
  explicit Planner(const rclcpp::Node::SharedPtr & node)
  : node_(node), client_(rclcpp_action::create_client<PlanGrasps>(node, "plan_grasps"))
  {
  }

  // Plans; cancels once `enough` grasps hold (0: never), which still brings the best so far.
  PlanGrasps::Result::SharedPtr plan(const PlanGrasps::Goal & goal, std::uint32_t enough)
  {
    if (!client_->wait_for_action_server(kDiscovery)) {
      throw ServerLost("no grasp_planner was found: is the suite up, and in this ROS domain?");
    }
    heard_ = SteadyClock::now();
    const auto wants_cancel = std::make_shared<bool>(false);  // feedback may outlive this call
    rclcpp_action::Client<PlanGrasps>::SendGoalOptions options;
    options.feedback_callback =
      [this, wants_cancel, enough](
      GoalHandle::SharedPtr, const std::shared_ptr<const PlanGrasps::Feedback> feedback) {
        heard_ = SteadyClock::now();
        RCLCPP_INFO(
          node_->get_logger(), "%u of %u evaluated, %u hold", feedback->evaluated,
          feedback->total, feedback->stable);
        *wants_cancel = enough > 0 && feedback->stable >= enough;
      };
    const double limit = goal.max_planning_time > 0.0 ? goal.max_planning_time : kDefaultTime;
    const auto end = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
      std::chrono::duration<double>(limit) + kGrace);

    const auto handle = await(client_->async_send_goal(goal, options), end, [] {});
    if (!handle) {
      throw std::runtime_error("the planner refuses the request");
    }
    bool canceled = false;
    const auto answer = await(
      client_->async_get_result(handle), end, [&] {
        if (*wants_cancel && !canceled) {
          canceled = true;
          client_->async_cancel_goal(handle);
        }
      });
    if (answer.code == rclcpp_action::ResultCode::UNKNOWN || !answer.result) {
      throw ServerLost("the planner does not know the request any more");
    }
    return answer.result;
  }

private:
  // Spins until a future is there; throws ServerLost where waiting on makes no sense.
  template<typename T>
  T await(
    std::shared_future<T> future, SteadyClock::time_point end,
    const std::function<void()> & meanwhile)
  {
    while (rclcpp::spin_until_future_complete(node_, future, kPoll) !=
      rclcpp::FutureReturnCode::SUCCESS)
    {
      if (!rclcpp::ok()) {
        throw std::runtime_error("interrupted");
      }
      const auto now = SteadyClock::now();
      if (now > end) {
        throw ServerLost("the planner did not answer in time");
      }
      if (!client_->action_server_is_ready()) {
        throw ServerLost("the planner went away while it was planning");
      }
      if (now - heard_ > kSilence) {
        throw ServerLost("the planner is silent");
      }
      meanwhile();
    }
    heard_ = SteadyClock::now();
    return future.get();
  }

  static constexpr std::chrono::seconds kDiscovery{10}, kSilence{8}, kGrace{10};
  static constexpr std::chrono::milliseconds kPoll{50};
  static constexpr double kDefaultTime = 60.0;  // of the planner, config/planner.yaml [s]

  rclcpp::Node::SharedPtr node_;
  rclcpp_action::Client<PlanGrasps>::SharedPtr client_;
  SteadyClock::time_point heard_;
};

// Prints the grasps; returns the exit code.
int report(const PlanGrasps::Result & result)
{
  if (result.grasps.empty()) {
    std::printf("no grasp, status %u: %s\n", result.status, result.message.c_str());
    return result.status == PlanGrasps::Result::NO_GRASP ? 0 : 1;
  }
  for (const auto & grasp : result.grasps) {
    const auto & palm = grasp.hand_pose.position;
    std::printf(
      "%u: score %.2f, holds %.2f times the load, palm at %.3f %.3f %.3f m\n", grasp.rank,
      grasp.score, grasp.margin, palm.x, palm.y, palm.z);
  }
  return 0;
}

}  // namespace

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  const auto node = std::make_shared<rclcpp::Node>("plan_grasps_client");
  PlanGrasps::Goal goal;
  goal.mesh_resource = node->declare_parameter<std::string>("mesh", "");
  goal.scale = node->declare_parameter<double>("scale", 1.0);
  goal.material.name = node->declare_parameter<std::string>("material", "");
  goal.max_planning_time = node->declare_parameter<double>("time", 0.0);
  const auto enough = static_cast<std::uint32_t>(node->declare_parameter<int>("enough", 0));
  const auto tries = node->declare_parameter<int>("tries", 3);

  int code = 1;
  Planner planner(node);
  for (int attempt = 1; rclcpp::ok(); ++attempt) {
    try {
      code = report(*planner.plan(goal, enough));
      break;
    } catch (const ServerLost & error) {
      RCLCPP_WARN(node->get_logger(), "%s", error.what());
      if (attempt >= tries) {
        break;
      }
      std::this_thread::sleep_for(2s);  // launch starts it again; then ask anew
    } catch (const std::exception & error) {
      RCLCPP_ERROR(node->get_logger(), "%s", error.what());
      break;
    }
  }
  rclcpp::shutdown();
  return code;
}
