// Programs are built in as texts.
declare module "*.prose" {
  const text: string;
  export default text;
}
