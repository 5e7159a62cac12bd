/** Passwords of twelve characters and more that every list of guesses starts with. */
export const commonPasswords: ReadonlySet<string> = listed(`
  !@#$%^&*()_+ !q@w#e$r%t^y !qaz2wsx#edc !qaz@wsx#edc 000000000000 007007007007 010101010101 0123456789012
  098765432109 101010101010 111111111111 112233445566 121212121212 123123123123 123321123321 123412341234
  123454321234 123456!@#$%^ 123456123456 123456789012 1234567890123 12345678901234 123456789012345
  1234567890123456 1234567890ab 1234567890abc 1234567890qwe 1234567890qwerty 123456789abc 123456789qwe
  12345678abcd 12345678qwertyu 123456abcdef 123456asdfgh 123456qwerty 12345qwert123 12345qwertasdfg 1234qwer1234
  1234qwerasdf 1234qwerasdfzxcv 123qwe123qwe 123qweasdzxc 131313131313 135792468013 147258369147 147852369147
  159753159753 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1qaz!qaz2wsx 1qaz1qaz1qaz 1qaz2wsx1qaz2wsx
  1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qaz@wsx3edc 1qazxsw23edc 202020202020 222222222222 246813579024 252525252525
  258456258456 271828182845 314159265358 3141592653589 333333333333 420420420420 444444444444 456789123456
  555555555555 666666666666 696969696969 741852963741 777777777777 789456123078 789456123789 8675309867530
  888888888888 987654321098 987654321987 999999999999 a1b2c3d4e5f6 a1b2c3d4e5f6g7 aa1234567890 aaa111222333
  aaaaaaaaaaaa abababababab abc123456789 abc123abc123 abcd12345678 abcd1234abcd abcdef123456 abcdefg12345
  abcdefg1234567 abracadabra1 abracadabra123 admin1234567 admin12345678 admin123456789 admin@123456 adminadmin123
  adminadminadmin administrador administrator administrator1 administrator123 arsenal12345 asdf12345678
  asdf1234asdf asdfasdfasdf asdfghjkl123 asdfghjklqwerty asdfjkl;asdf asdfqwer1234 autumn2024!! autumn2025!!
  azertyuiop12 azertyuiop123 azertyuiop1234 barcelona123 barcelona1234 baseball1234 basketball12 basketball123
  batman123456 batteryhorsestaple butterfly123 butterfly1234 changeitnow123 changeme1234 changeme12345
  changemenow1 changethispassword charlie12345 chelsea12345 chocolate123 chocolate1234 cisco1234567 ciscocisco12
  cloudcloud12 computer1234 computer12345 contrasena123 contrasena1234 contraseña123 correcthorse
  correcthorsebatterystaple december2024 december2025 defaultpassword demo12345678 demodemodemo docker123456
  dragon123456 dragonball123 dragonballz1 dragondragon facebook1234 facebook12345 football1234 football12345
  footballfootball fortnite1234 fussball1234 geheimespasswort geheimgeheim godisgood123 godisgreat123 google123456
  guestguestguest hallohallo123 hallowelt123 hello1234567 hello12345678 hellohello12 hellohellohello helloworld123
  helloworld1234 hunter123456 hunter2hunter2 ichliebedich ichliebedich1 ilovechocolate ilovejesus123 ilovemydog123
  ilovemyfamily iloveyou1234 iloveyou12345 iloveyou123456 iloveyou1314 iloveyouforever iloveyousomuch internet1234
  internet12345 january2024! january2025! jenkins12345 jennifer1234 jessica12345 jesuschrist1 jesusislord1
  jesuslovesme jetaime12345 juventus1234 killer123456 kubernetes123 kubernetes1234 letmein12345 letmein123456
  letmeinletmein letmeinnow123 letmeinplease linkedin1234 linkedin12345 liverpool123 liverpool1234 liverpoolfc1
  manchester123 manchesterunited master123456 maytheforcebewithyou michael12345 microsoft123 microsoft1234
  minecraft123 minecraft1234 monkey123456 monkeymonkey motdepasse123 motdepasse1234 mynewpassword mypassword123
  mypassword1234 mysql1234567 newpassword1 newpassword123 nopassword12 nothing12345 nutanix/4u12 onetwothreefour
  opensesame123 openstack123 oracle123456 p@$$w0rd1234 p@ssw0rd1234 p@ssw0rd2024 p@ssw0rd2025 p@ssword1234
  passw0rd1234 password1234 password12345 password123456 password12345678 password123456789 password1234567890
  password2020 password2021 password2022 password2023 password2024 password2025 password2026 passwordisweak
  passwordpassword passwort1234 passwort12345 passwort123456 pokemon12345 pokemon123456 postgres1234 postgres12345
  postgrespostgres princess1234 princess12345 princessprincess q1w2e3r4t5y6 q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8
  qazwsxedc123 qazwsxedcrfv qqqqqqqqqqqq qweasdzxc123 qweqweqweqwe qwer12345678 qwer1234asdf qwerasdfzxcv
  qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789 qwertyasdfgh qwertyqwerty qwertyuiop12 qwertyuiop123
  qwertyuiop1234 qwertyuiop12345 qwertyuiop[] qwertzuiop12 qwertzuiop123 qwertzuiop1234 raspberry123 raspberrypi1
  raspberrypi123 realmadrid123 rootpassword rootroot1234 rootrootroot samsung12345 samsung123456 schatzschatz
  secret123456 secret1234567 secretpassword secretsecret1 senha1234567 senha12345678 september2024 september2025
  setpoint1234 setpoint12345 setpointsetpoint shadow123456 spiderman123 spiderman1234 spring2024!! spring2025!!
  starwars1234 starwars12345 summer2023!! summer2024!! summer2025!! sunshine1234 sunshine12345 sunshinesunshine
  superadmin123 superman1234 superman12345 supersecret1 supersecret123 supersecretpassword superuser1234
  teamo123456789 tequiero1234 tequieromucho terraform123 test12345678 test123456789 testing12345 testpassword
  testtest1234 testtesttest thequickbrownfox thequickbrownfoxjumps thisismypassword tobeornottobe toortoortoor
  topsecret1234 trustno11234 trustno1trustno1 trustnoone123 ubuntu123456 user12345678 useruseruser vmware123456
  wachtwoord123 wachtwoord1234 welcome12345 welcome123456 welcome2024! welcome2025! welcome2026! welcomeback1
  welcometohell welcomewelcome whatever1234 willkommen123 willkommen1234 windows12345 winter2023!! winter2024!!
  winter2025!! xxxxxxxxxxxx yourpassword zaq12wsxcde3 zaq1xsw2cde3 zaq1xsw2cde3vfr4 zxcv12345678 zxcvbnm12345
  zxcvbnm123456 zxcvbnm123456789 zzzzzzzzzzzz
`);

/** Words that are as well known as a password when nothing but digits and signs is put around them. */
export const commonWords: ReadonlySet<string> = listed(`
  access admin administrator amanda amazon america andrew android angel anything apple april arsenal asdfgh ashley
  august austin australia autumn azerty backup banana barcelona baseball basketball batman batterystaple berlin
  biteme business buster butterfly canada changeme charlie cheese chelsea chocolate cisco coffee company computer
  contrasena control correcthorse correcthorsebatterystaple corvette dallas daniel database december default demo
  dragon england everything facebook family father february flower football forever fortnite france freedom friday
  friend friends frühling fussball geheim george germany ginger google guest hallo hallowelt hammer hello
  helloworld herbst hockey hunter iloveyou internet iphone january jennifer jessica jordan joshua july june
  juventus killer letmein liebling linkedin linux liverpool london lovely madrid maggie manager manchester march
  master matthew michael michelle microsoft minecraft monday monkey motdepasse mother mysql naruto network newyork
  nicole nothing november october office oracle orange paris parola passw0rd password passwordpassword passwort
  pepper pokemon postgres princess purple qwerty qwertz ranger realmadrid robert roblox root router samsung
  saturday schatz secret security senha september server service setpoint shadow silver soccer something sommer
  spiderman spring starwars summer sunday sunshine superman support system test tester testing thomas thursday
  topsecret trustno tuesday twitter ubuntu user wachtwoord wednesday welcome whatever william willkommen windows
  winter yankees yellow zxcvbn
`);

function listed(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ""));
}
